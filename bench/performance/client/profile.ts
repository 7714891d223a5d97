import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';

/** Microseconds between two samples. */
const INTERVAL = 200;

/** Does a piece of work, and writes where its processor time went (a .cpuprofile, which Chrome shows). */
export async function profiled<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
	const session = new Session();
	session.connect();
	await session.post('Profiler.enable');
	await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
	await session.post('Profiler.start');
	const result = await work();
	const { profile } = await session.post('Profiler.stop');
	session.disconnect();
	await writeFile(file, JSON.stringify(profile));
	return result;
}
