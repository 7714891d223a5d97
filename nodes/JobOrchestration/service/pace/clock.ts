import { sleep } from 'n8n-workflow';

import { wait } from '../request/timers';

/** What is needed of the time; tests set their own. */
export interface Clock {
	/** Milliseconds. */
	now(): number;
	/** For how long this process has had nothing to do, since some time. */
	idle(): number;
	wait(milliseconds: number): Promise<void>;
	/** Waits until whatever else this process has to do has had its turn. */
	pause(): Promise<void>;
	/** A number from 0 to 1, by chance. */
	random(): number;
}

export const realClock: Clock = {
	now: () => performance.now(),
	idle: () => performance.eventLoopUtilization().idle,
	wait,
	// An AbortSignal's timer costs two or three times as much, and there are hundreds of these in a second.
	pause: async () => await sleep(1),
	random: () => Math.random(),
};
