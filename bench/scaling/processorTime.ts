import { readdir, readFile } from 'node:fs/promises';

/** Ticks of the clock by which the kernel counts processor time: 100 a second on every Linux of today. */
const TICKS = 100;

/**
 * Seconds of processor time that the first thread of a process has used: in Node.js the one that runs all
 * JavaScript, and the one that bounds what a process can do.
 */
export async function firstThreadTime(pid: number): Promise<number> {
	return (await statAt(`/proc/${pid}/task/${pid}/stat`))?.own ?? 0;
}

interface Stat {
	pid: number;
	parent: number;
	/** Seconds, with those of the children that have ended. */
	seconds: number;
	/** Seconds, without them. */
	own: number;
}

/**
 * Seconds of processor time that processes have used since they started, each with all that it has started
 * itself: PostgreSQL has a process for each connection, n8n one for its Code nodes.
 * @returns in the order of the process ids given
 */
export async function processorTimes(pids: readonly number[]): Promise<number[]> {
	const all = await statOfAll();
	const timeOf = (pid: number): number =>
		all
			.filter(({ parent }) => parent === pid)
			.reduce(
				(sum, child) => sum + timeOf(child.pid),
				all.find((stat) => stat.pid === pid)?.seconds ?? 0,
			);
	return pids.map(timeOf);
}

async function statOfAll(): Promise<Stat[]> {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const stats = await Promise.all(pids.map(async (pid) => await statAt(`/proc/${pid}/stat`)));
	return stats.filter((stat) => stat !== undefined);
}

/** What proc(5) calls fields 1, 4 and 14 to 17 of such a file. */
async function statAt(path: string): Promise<Stat | undefined> {
	let text: string;
	try {
		text = await readFile(path, 'utf8');
	} catch {
		// It has ended meanwhile.
		return undefined;
	}
	// The second field is a name in brackets, in which there may be anything.
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
	const seconds = (...indices: number[]) =>
		indices.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS;
	return {
		pid: parseInt(text, 10),
		parent: Number(fields[1]),
		seconds: seconds(11, 12, 13, 14),
		own: seconds(11, 12),
	};
}
