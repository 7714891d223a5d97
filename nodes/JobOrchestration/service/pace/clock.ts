import { sleep } from 'n8n-workflow';

import { wait } from '../request/timers';

/** The time in milliseconds, which tests set themselves. */
export const realClock = {
	now: () => performance.now(),
	/** How long this process has been idle in all. */
	idle: () => performance.eventLoopUtilization().idle,
	wait: async (ms: number) => await wait(ms),
	/** Gives the event loop a turn, hundreds of times a second, for which an AbortSignal's timer is too slow. */
	pause: async () => await sleep(1),
};
