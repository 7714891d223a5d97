import type { RunningProcess } from '../process';

/** A program that can be started again once it has ended, on the same port and with what it has kept. */
export interface Restartable extends RunningProcess {
	/**
	 * Starts it again; ends it first where it still runs.
	 * @throws Problem when it doesn't start
	 */
	startAgain(): Promise<void>;
}

/** Starts a program in a way that can be repeated. */
export async function startRestartable(start: () => Promise<RunningProcess>): Promise<Restartable> {
	let now = await start();
	return {
		get pid() {
			return now.pid;
		},
		get logFile() {
			return now.logFile;
		},
		get ended() {
			return now.ended;
		},
		stop: async () => await now.stop(),
		kill: async () => await now.kill(),
		startAgain: async () => {
			await now.kill();
			now = await start();
		},
	};
}
