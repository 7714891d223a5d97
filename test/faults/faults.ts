import type { Fault, When } from '../../sandbox';

/*
 * What can go wrong with a request, one by one.
 */

export const answer = (
	when: When,
	status: number,
	rest: { body?: unknown; headers?: Record<string, string> } = {},
): Fault => ({ kind: 'answer', when, status, ...rest });

const comeBack = { headers: { 'retry-after': '0' } };

/** What all requests wait for together, and what is no failure of a single one as long as others get through. */
export const tooMany: Fault[] = [
	{ kind: 'rateLimit', retryAfter: 0 },
	answer('beforeActing', 503, comeBack),
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
	...[400, 401, 403, 404, 408, 409, 500, 502, 503].map((status) => answer('beforeActing', status)),
	answer('beforeActing', 200),
	answer('beforeActing', 200, { body: [] }),
];

/** What can happen afterwards, unless the service lies: it says that it refused only where it did. */
export const afterActing: Fault[] = [
	{ kind: 'break', when: 'afterActing' },
	{ kind: 'stall', when: 'afterActing' },
	{ kind: 'halfBody', when: 'afterActing' },
	{ kind: 'html', when: 'afterActing' },
	{ kind: 'hugeBody', when: 'afterActing', bytes: 100_000 },
	...[408, 500, 502, 503, 504].map((status) => answer('afterActing', status)),
	answer('afterActing', 200),
	answer('afterActing', 200, { body: { name: 'no id' } }),
	answer('afterActing', 303, { headers: { location: '/jobs/1' } }),
];

/** What can happen to the verb that ends a job. */
export const ofVerb: Fault[] = [
	{ kind: 'break', when: 'beforeActing' },
	{ kind: 'break', when: 'afterActing' },
	{ kind: 'stall', when: 'beforeActing' },
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'expireTokens' },
	...[400, 403, 404, 409, 500, 503].map((status) => answer('beforeActing', status)),
	answer('afterActing', 500),
];
