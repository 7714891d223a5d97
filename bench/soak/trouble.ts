import type { Fault, PlannedCall, When } from '../../sandbox';

/** One call in so many goes wrong. */
const ONE_IN = 10;

/** All tokens expire after so many calls, at least and at most. */
const LEAST_BETWEEN_EXPIRIES = 200;
const MOST_BETWEEN_EXPIRIES = 600;

const retryAfter = (value: string) => ({ headers: { 'retry-after': value } });
const answer = (
	when: When,
	status: number,
	rest: { headers?: Record<string, string>; body?: unknown } = {},
): Fault => ({
	kind: 'answer',
	when,
	status,
	...rest,
});

/** What can happen on both sides of the effect. */
const anyTime = (when: When): Fault[] => [
	{ kind: 'break', when },
	{ kind: 'stall', when },
	{ kind: 'halfBody', when },
	{ kind: 'html', when, status: 502 },
	{ kind: 'hugeBody', when, bytes: 200_000, status: 500 },
	...[408, 500, 502, 503, 504].map((status) => answer(when, status)),
];

/** What a service says that has not acted. */
const refusals: Fault[] = [
	{ kind: 'rateLimit' },
	{ kind: 'rateLimit', retryAfter: 0 },
	{ kind: 'rateLimit', retryAfter: 1 },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere', status: 307 },
	...[400, 401, 403, 404, 409, 422].map((status) => answer('beforeActing', status)),
	answer('beforeActing', 503, retryAfter('0')),
	answer('beforeActing', 503, retryAfter('Thu, 01 Jan 1970 00:00:00 GMT')),
];

/**
 * Successes that are none. To a state change most of them would be a lie: it can have been refused before,
 * because its token had expired.
 */
const oddSuccesses = (when: When): Fault[] => [
	{ kind: 'html', when },
	{ kind: 'hugeBody', when, bytes: 200_000 },
	answer(when, 200),
	answer(when, 204),
	answer(when, 200, { body: [] }),
	answer(when, 200, { body: 'done' }),
	answer(when, 200, { body: { name: 'no id' } }),
];

const common = [...anyTime('beforeActing'), ...anyTime('afterActing'), ...refusals];

const troubles = {
	createJob: [...common, ...oddSuccesses('beforeActing'), ...oddSuccesses('afterActing')],
	changeJobState: [...common, { kind: 'html', when: 'afterActing' } as Fault],
	// A log-in that is refused is not tried again, and one that stalls holds up all: neither is random.
	login: [
		{ kind: 'break', when: 'beforeActing' },
		{ kind: 'halfBody', when: 'afterActing' },
		answer('beforeActing', 500),
		answer('beforeActing', 503, retryAfter('0')),
		{ kind: 'rateLimit', retryAfter: 0 },
	] as Fault[],
};

/** Decides what goes wrong with which call: always the same for the same seed and the same order of calls. */
export class Trouble {
	calls = 0;
	struck = 0;
	logins = 0;
	loginsStruck = 0;
	expiries = 0;
	/** How many calls were told that their token is not good, although it was. */
	rejections = 0;

	private readonly random: () => number;
	private readonly kinds = new Set<string>();
	private untilExpiry = LEAST_BETWEEN_EXPIRIES;

	constructor(seed: number) {
		this.random = mulberry32(seed);
	}

	/** Begins to count anew. */
	reset(): void {
		this.calls =
			this.struck =
			this.logins =
			this.loginsStruck =
			this.expiries =
			this.rejections =
				0;
		this.kinds.clear();
	}

	/** In how many ways calls have gone wrong. */
	get ways(): number {
		return this.kinds.size;
	}

	/** What the next call meets. */
	next({ operation }: PlannedCall): Fault[] {
		this.calls += 1;
		if (operation === 'login') this.logins += 1;
		const faults: Fault[] = [];
		if (operation !== 'login' && --this.untilExpiry <= 0) {
			this.untilExpiry = this.between(LEAST_BETWEEN_EXPIRIES, MOST_BETWEEN_EXPIRIES);
			this.expiries += 1;
			faults.push({ kind: 'expireTokens' });
		}
		if (operation in troubles && this.random() < 1 / ONE_IN) {
			const choice = troubles[operation as keyof typeof troubles];
			const fault = choice[this.between(0, choice.length - 1)];
			if (fault !== undefined) faults.push(fault);
			this.kinds.add(JSON.stringify(fault));
			this.struck += 1;
			if (operation === 'login') this.loginsStruck += 1;
			if (fault?.kind === 'answer' && fault.status === 401) this.rejections += 1;
		}
		return faults;
	}

	private between(least: number, most: number): number {
		return least + Math.floor(this.random() * (most - least + 1));
	}
}

/** Numbers from 0 to 1 that look random, the same ones for the same seed. */
function mulberry32(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
