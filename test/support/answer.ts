import type { Fault, Plan, When } from '../../sandbox';

/*
 * Answers that are planned instead of the service's own.
 */

type Answer = [status: number, body?: unknown, headers?: Record<string, string>];

export const answerWhen = (when: When, ...[status, body, headers]: Answer): Fault => ({
	kind: 'answer',
	when,
	status,
	body,
	headers,
});

/** What the service answers instead of doing what it is asked. */
export const answer = (...given: Answer) => answerWhen('beforeActing', ...given);

/** What the service answers after it has done what it is asked. */
export const actAndAnswer = (...given: Answer) => answerWhen('afterActing', ...given);

/** A service that takes `latency` milliseconds for a request, ten at a time, and gives the others a bare 503. */
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
