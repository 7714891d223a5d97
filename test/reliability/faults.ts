import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';

/*
 * What can go wrong with a request, one by one.
 */

/** What all requests wait for together, and what is no failure of a single one as long as others get through. */
export const tooMany: Fault[] = [
	{ kind: 'rateLimit', retryAfter: 0 },
	answer(503, undefined, { 'retry-after': '0' }),
];

/** What can happen to a create before the service has acted on it. */
export const beforeActing: Fault[] = [
	{ kind: 'break', when: 'beforeActing' },
	{ kind: 'stall', when: 'beforeActing' },
	{ kind: 'halfBody', when: 'beforeActing' },
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'hugeBody', when: 'beforeActing', bytes: 100_000 },
	{ kind: 'expireTokens' },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/' },
	...[400, 401, 403, 404, 408, 409, 500, 502, 503].map((status) => answer(status)),
	answer(200),
	answer(200, []),
];

/** What can happen afterwards, unless the service lies: it says that it refused only where it did. */
export const afterActing: Fault[] = [
	{ kind: 'break', when: 'afterActing' },
	{ kind: 'stall', when: 'afterActing' },
	{ kind: 'halfBody', when: 'afterActing' },
	{ kind: 'html', when: 'afterActing' },
	{ kind: 'hugeBody', when: 'afterActing', bytes: 100_000 },
	...[408, 500, 502, 503, 504].map((status) => actAndAnswer(status)),
	actAndAnswer(200),
	actAndAnswer(200, { name: 'no id' }),
	actAndAnswer(303, undefined, { location: '/jobs/1' }),
];

/** What can happen to the verb that ends a job. */
export const ofVerb: Fault[] = [
	{ kind: 'break', when: 'beforeActing' },
	{ kind: 'break', when: 'afterActing' },
	{ kind: 'stall', when: 'beforeActing' },
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'expireTokens' },
	...[400, 403, 404, 409, 500, 503].map((status) => answer(status)),
	actAndAnswer(500),
];
