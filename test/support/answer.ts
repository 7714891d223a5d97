import type { Fault, Plan, When } from '../../sandbox';

/*
 * Faults that make the sandbox send a planned answer instead of its own.
 */

type Answer = [status: number, body?: unknown, headers?: Record<string, string>];

export const answerWhen = (when: When, ...[status, body, headers]: Answer): Fault => ({
	kind: 'answer',
	when,
	status,
	body,
	headers,
});

/** Returns a fault: the service sends this answer and doesn't carry out the operation. */
export const answer = (...given: Answer) => answerWhen('beforeActing', ...given);

/** Returns a fault: the service carries out the operation, and then sends this answer. */
export const actAndAnswer = (...given: Answer) => answerWhen('afterActing', ...given);

/**
 * Returns a plan for a service that processes ten requests at a time and takes `latency` milliseconds for each. It
 * answers every further request with a 503 without a body. Logins don't count.
 */
export function takesTenAtOnce(latency: number): Plan {
	let inFlight = 0;
	return ({ operation }) => {
		if (operation === 'login') return undefined;
		if (inFlight >= 10) return answer(503);
		inFlight += 1;
		const over = new Promise((resolve) => setTimeout(resolve, latency));
		return { kind: 'wait', when: 'afterActing', until: over.then(() => (inFlight -= 1)) };
	};
}
