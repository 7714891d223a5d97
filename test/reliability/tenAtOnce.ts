import type { Plan } from '../../sandbox';
import { answer } from '../support/answer';

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
