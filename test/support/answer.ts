import type { Fault, Plan, When } from '../../sandbox';

/*
 * Answers that are planned instead of the service's own.
 */

export const answerWhen = (
	when: When,
	status: number,
	body?: unknown,
	headers?: Record<string, string>,
): Fault => ({
	kind: 'answer',
	when,
	status,
	...(body === undefined ? {} : { body }),
	...(headers === undefined ? {} : { headers }),
});

/** What the service answers instead of doing what it is asked. */
export const answer = (status: number, body?: unknown, headers?: Record<string, string>): Fault =>
	answerWhen('beforeActing', status, body, headers);

/** What the service answers after it has done what it is asked. */
export const actAndAnswer = (
	status: number,
	body?: unknown,
	headers?: Record<string, string>,
): Fault => answerWhen('afterActing', status, body, headers);

/** A service that takes `latency` milliseconds for a request, ten at a time, and gives the others a bare 503. */
export function takesTenAtOnce(latency: number, refusal = answer(503)): Plan {
	let inFlight = 0;
	return ({ operation }) => {
		if (operation === 'login') return undefined;
		if (inFlight >= 10) return refusal;
		inFlight += 1;
		const over = new Promise((resolve) => setTimeout(resolve, latency));
		return { kind: 'wait', when: 'afterActing', until: over.then(() => (inFlight -= 1)) };
	};
}
