import { readdir, readFile } from 'node:fs/promises';

/** The kernel counts processor time in hundredths of a second. */
const TICKS_A_SECOND = 100;

/** What proc(5) says of a process or thread: processor time in seconds, with and without children that have ended. */
interface Stat {
	pid: number;
	parent: number;
	withChildren: number;
	own: number;
}

/** Seconds of the first thread of a process: in Node.js the one that runs all JavaScript. */
export async function firstThreadTime(pid: number): Promise<number> {
	return (await statAt(`/proc/${pid}/task/${pid}/stat`))?.own ?? 0;
}

/**
 * Seconds of processes since they started, each with all processes that it has started: PostgreSQL has one for each
 * connection, n8n one for its Code nodes.
 */
export async function processorTimes(pids: readonly number[]): Promise<number[]> {
	const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(ids.map(async (id) => await statAt(`/proc/${id}/stat`)));
	const stats = found.filter((stat) => stat !== undefined);
	const timeOf = (pid: number): number =>
		stats
			.filter(({ parent }) => parent === pid)
			.reduce(
				(sum, child) => sum + timeOf(child.pid),
				stats.find((stat) => stat.pid === pid)?.withChildren ?? 0,
			);
	return pids.map(timeOf);
}

/** Fields 1, 4 and 14 to 17; undefined if the process has ended. */
async function statAt(path: string): Promise<Stat | undefined> {
	const text = await readFile(path, 'utf8').catch(() => undefined);
	if (text === undefined) return undefined;
	// The second field is a name in brackets, which may contain anything.
	const fields = text
		.slice(text.lastIndexOf(')') + 2)
		.split(' ')
		.map(Number);
	const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
	const own = (user + system) / TICKS_A_SECOND;
	const withChildren = own + (childrenUser + childrenSystem) / TICKS_A_SECOND;
	return { pid: parseInt(text, 10), parent: fields[1] ?? 0, withChildren, own };
}
