import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import type { Failure } from '../../nodes/JobOrchestration/service/request/failure';
import type {
	Clock,
	WaitNotice,
	Refusal,
	Permit,
	ExecutionLimiter,
} from '../../nodes/JobOrchestration/service/pace/limiter';
import { AccountLimiter, limiterOf } from '../../nodes/JobOrchestration/service/pace/limiter';

/** A clock that goes when it is told to. */
class SetClock implements Clock {
	random = () => 1;
	private time = 1_000;
	private timers: Array<{ at: number; ring: () => void }> = [];

	now(): number {
		return this.time;
	}

	idle(): number {
		return this.time;
	}

	async wait(milliseconds: number): Promise<void> {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	}

	async pause(): Promise<void> {
		await this.wait(1);
	}

	/** How many wait for it to go on. */
	get waiting(): number {
		return this.timers.length;
	}

	/** Lets so many milliseconds pass, and whatever is due happen in them. */
	async pass(milliseconds: number): Promise<void> {
		const end = this.time + milliseconds;
		for (;;) {
			await settled();
			const next = Math.min(...this.timers.map(({ at }) => at));
			if (next > end) break;
			this.time = next;
			const due = this.timers.filter(({ at }) => at <= next);
			this.timers = this.timers.filter(({ at }) => at > next);
			for (const { ring } of due) ring();
		}
		this.time = end;
		await settled();
	}
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

const tooMany: Failure = { kind: 'status', status: 429, text: 'slowly', retryAfter: undefined };
const refused: Failure = { kind: 'unreachable', code: 'ECONNREFUSED' };

let clock: SetClock;
let limiter: AccountLimiter;
beforeEach(() => {
	clock = new SetClock();
	limiter = new AccountLimiter(clock);
});
afterEach(() => jest.restoreAllMocks());

/** Requests of an execution, and what becomes of them: a permit, a refusal, or nothing yet. */
function come(
	execution: ExecutionLimiter,
	count: number,
	stop?: AbortSignal,
	options?: { goesFirst: boolean },
): Array<Permit | Refusal | undefined> {
	const all: Array<Permit | Refusal | undefined> = new Array<undefined>(count).fill(undefined);
	all.forEach((_, index) => {
		void execution.acquire(stop, options).then((permit) => (all[index] = permit));
	});
	return all;
}

const permitAt = (all: Array<Permit | Refusal | undefined>, index: number): Permit => {
	const permit = all[index];
	if (permit === undefined || 'refused' in permit)
		throw new Error(`Request ${index} has no permit`);
	return permit;
};
const begun = (all: Array<Permit | Refusal | undefined>) =>
	all.filter((permit) => permit !== undefined && !('refused' in permit)).length;
const without = (all: Array<Permit | Refusal | undefined>) =>
	all.filter((permit) => permit !== undefined && 'refused' in permit);

/** A execution that the service has answered. */
async function answered(
	most?: number,
	notify?: (notice: WaitNotice) => void,
): Promise<ExecutionLimiter> {
	const execution = limiter.forExecution({
		concurrency: most,
		...(notify === undefined ? {} : { notify }),
	});
	const first = come(execution, 1);
	await settled();
	permitAt(first, 0).release({ kind: 'answered' });
	return execution;
}

test('ten begin at first, in their order, whosever they are', async () => {
	const [one, another] = [limiter.forExecution(), limiter.forExecution()];
	const [first, second, third] = [come(one, 6), come(another, 6), come(one, 6)];
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 4, 0]);
	permitAt(first, 0).release({ kind: 'answered' });
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 5, 0]);
});

test('nobody comes back later for those that have begun, nor for those who wait for an answer', async () => {
	const all = come(limiter.forExecution(), 15);
	await settled();
	expect(begun(all)).toBe(10);
	expect(clock.waiting).toBe(0);
});

test('an execution never has more under way than it may, and others go by', async () => {
	const narrow = come(limiter.forExecution({ concurrency: 2 }), 5);
	const wide = come(limiter.forExecution(), 5);
	await settled();
	expect([narrow, wide].map(begun)).toEqual([2, 5]);
	permitAt(narrow, 0).release({ kind: 'done' });
	permitAt(narrow, 0).release({ kind: 'done' });
	await settled();
	expect(begun(narrow)).toBe(3);
});

test('several runs of one execution, as tools that an agent calls at once, never have more than it may', async () => {
	const execution = {};
	const runs = [1, 2, 3].map(() => limiter.forExecution({ concurrency: 2, execution }));
	const all = runs.map((run) => come(run, 2));
	await settled();
	expect(all.map(begun)).toEqual([2, 0, 0]);
	permitAt(all[0] ?? [], 0).release({ kind: 'answered' });
	await settled();
	expect(all.map(begun)).toEqual([2, 1, 0]);
});

test('an execution with a number of its own leaves some room for the others', async () => {
	const bounded = come(limiter.forExecution({ concurrency: 40 }), 40);
	const others = come(limiter.forExecution(), 20);
	await settled();
	await clock.pass(100);
	expect([begun(bounded), begun(others)]).toEqual([40, 10]);
});

test('of a hundred that may begin, a few do at a time, and n8n goes on in between', async () => {
	const all = come(limiter.forExecution({ concurrency: 100 }), 100);
	await settled();
	expect(begun(all)).toBe(16);
	await clock.pass(1);
	expect(begun(all)).toBe(20);
	await clock.pass(1);
	expect(begun(all)).toBe(24);
	await clock.pass(19);
	expect(begun(all)).toBe(100);
});

test("the time of a log-in isn't taken for the service's", async () => {
	const all = come(limiter.forExecution(), 10);
	await settled();
	await clock.pass(1_000);
	all.forEach((_, index) => permitAt(all, index).sent());
	await clock.pass(3);
	all.forEach((_, index) => permitAt(all, index).release({ kind: 'done' }));
	// After a second each, there would be twenty more.
	expect(limiter.pace.limit).toBe(10);
});

test('more may begin, although they wait for others to begin', async () => {
	const all = come(limiter.forExecution(), 100);
	await settled();
	await clock.pass(300);
	all.slice(0, 10).forEach((_, index) => permitAt(all, index).release({ kind: 'done' }));
	expect(limiter.pace.limit).toBe(30);
});

test.each([
	['was waiting for it says how fast the service is', { idle: 50, limit: 23 }],
	['had other work says nothing of that', { idle: 0, limit: 15 }],
])('an answer that came while n8n %s', async (_, { idle, limit }) => {
	const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
	const utilization = { active: 0, utilization: 0 };
	const loop = jest
		.spyOn(performance, 'eventLoopUtilization')
		.mockReturnValue({ ...utilization, idle: 500 });
	const real = new AccountLimiter();
	const all = come(real.forExecution(), 100);
	await settled();
	now.mockReturnValue(1_050);
	loop.mockReturnValue({ ...utilization, idle: 500 + idle });
	all.slice(0, 10).forEach((_permit, index) => permitAt(all, index).release({ kind: 'done' }));
	expect(real.pace.limit).toBe(limit);
});

test('a stop ends the waiting of those whom it concerns, at once', async () => {
	const stop = new AbortController();
	const execution = limiter.forExecution();
	const [stopped, other] = [come(execution, 15, stop.signal), come(execution, 1)];
	await settled();
	stop.abort();
	await settled();
	expect(begun(stopped)).toBe(10);
	expect(without(stopped)).toEqual(new Array(5).fill({ refused: 'stopped' }));
	expect(other).toEqual([undefined]);
	expect(await execution.acquire(stop.signal)).toEqual({ refused: 'stopped' });
});

describe('When the service says "too many"', () => {
	test('all wait for as long as it says, then one asks, then all go on', async () => {
		const executions = [await answered(), await answered()];
		const all = executions.map((execution) => come(execution, 10));
		await settled();
		const first = all[0] ?? [];
		permitAt(first, 0).release({ kind: 'tooMany', retryAfter: 5_000 }, tooMany);
		for (let index = 1; index < 10; index += 1)
			permitAt(first, index).release({ kind: 'answered' });
		await clock.pass(4_999);
		expect(all.map(begun)).toEqual([10, 0]);
		await clock.pass(1);
		expect(all.map(begun)).toEqual([10, 1]);
		permitAt(all[1] ?? [], 0).release({ kind: 'answered' });
		await clock.pass(1_000);
		expect(all.map(begun)).toEqual([10, 10]);
	});

	test('those that it has turned away go first, in their order: it may not know the others yet', async () => {
		const execution = await answered();
		const all = come(execution, 12);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			permitAt(all, index).release({ kind: 'tooMany', retryAfter: undefined }, tooMany);
		}
		const again = come(execution, 10, undefined, { goesFirst: true });
		await clock.pass(100);
		expect(again.map((permit) => permit !== undefined)).toEqual([
			true,
			...new Array(9).fill(false),
		]);
		permitAt(again, 0).release({ kind: 'done' });
		await clock.pass(30_000);
		expect(begun(again)).toBe(10);
	});

	test('for a minute, all wait that long, and one asks then', async () => {
		const execution = await answered();
		const all = come(execution, 20);
		await settled();
		permitAt(all, 0).release({ kind: 'tooMany', retryAfter: 60_000 }, tooMany);
		await clock.pass(59_999);
		expect(begun(all)).toBe(10);
		await clock.pass(1);
		expect(begun(all)).toBe(11);
		expect(without(all)).toEqual([]);
	});

	test.each([66_000, 3_600_000, Infinity])(
		'for %s ms, one asks after a minute',
		async (retryAfter) => {
			const execution = await answered();
			const all = come(execution, 20);
			await settled();
			permitAt(all, 0).release({ kind: 'tooMany', retryAfter }, tooMany);
			await clock.pass(59_999);
			expect(begun(all)).toBe(10);
			await clock.pass(1);
			expect(begun(all)).toBe(11);
			permitAt(all, 10).release({ kind: 'tooMany', retryAfter }, tooMany);
			await settled();
			expect(without(all)).toEqual(
				new Array(9).fill({ refused: 'givenUp', failure: tooMany, waited: 60_000, probes: 1 }),
			);
		},
	);

	test('for so long, whoever comes later has not waited', async () => {
		const all = come(await answered(), 20);
		await settled();
		permitAt(all, 0).release({ kind: 'tooMany', retryAfter: 60_000 }, tooMany);
		await clock.pass(60_000);
		permitAt(all, 10).release({ kind: 'tooMany', retryAfter: 60_000 }, tooMany);
		await clock.pass(10_000);
		const late = come(limiter.forExecution({ patience: 5_000 }), 1);
		await settled();
		expect(late).toEqual([{ refused: 'givenUp', failure: tooMany, waited: 0, probes: 1 }]);
	});

	test('whoever has less patience is refused sooner, and the others wait on', async () => {
		const [patient, impatient] = [await answered(), limiter.forExecution({ patience: 5_000 })];
		const all = come(patient, 11);
		await settled();
		permitAt(all, 0).release({ kind: 'tooMany', retryAfter: 20_000 }, tooMany);
		const refused = come(impatient, 1);
		await settled();
		expect(without(refused)).toHaveLength(1);
		await clock.pass(6_000);
		expect(without(all)).toEqual([]);
	});

	test('and lets nothing through for a minute, all who wait fail with its words, and who comes after', async () => {
		const execution = await answered();
		const all = come(execution, 50);
		await settled();
		let asked = 0;
		for (let second = 0; second < 64; second += 1) {
			for (const permit of all) {
				if (permit !== undefined && !('refused' in permit)) {
					permit.release({ kind: 'tooMany', retryAfter: undefined }, tooMany);
				}
			}
			await clock.pass(1_000);
			asked = begun(all) - 10;
		}
		expect(without(all)).toEqual([]);
		expect(asked).toBeLessThan(20);
		await clock.pass(1_001);
		expect(without(all)).toHaveLength(50 - begun(all));
		expect(without(all)[0]).toMatchObject({ refused: 'givenUp', failure: tooMany });
		expect(await execution.acquire()).toMatchObject({ refused: 'givenUp', failure: tooMany });
	});
});

test('who is turned away is told why, and not what another request was answered', async () => {
	const all = come(await answered(), 2);
	await settled();
	permitAt(all, 0).release({ kind: 'tooMany', retryAfter: 60_000 }, tooMany);
	permitAt(all, 1).release({ kind: 'answered' }, { ...tooMany, status: 404 });
	const late = come(limiter.forExecution({ patience: 5_000 }), 1);
	await settled();
	expect(late).toMatchObject([{ refused: 'givenUp', failure: tooMany }]);
});

test('a probe that was not sent hands on to the next request, at once', async () => {
	const execution = await answered();
	const all = come(execution, 13);
	await settled();
	for (let index = 0; index < 10; index += 1) {
		permitAt(all, index).release({ kind: 'tooMany', retryAfter: 1_000 }, tooMany);
	}
	await clock.pass(1_000);
	expect(permitAt(all, 10).isProbe).toBe(true);
	permitAt(all, 10).release({ kind: 'unsent' });
	await settled();
	expect(permitAt(all, 11).isProbe).toBe(true);
	expect(begun(all)).toBe(12);
});

test('whoever has waited in vain for a service that is away, waits no second time in that execution', async () => {
	const execution = {};
	const first = limiter.forExecution({ execution, patience: 5_000 });
	const [answer] = [come(first, 1)];
	await settled();
	permitAt(answer, 0).release({ kind: 'answered' });
	const all = come(first, 20);
	await settled();
	for (let index = 0; index < 10; index += 1) {
		permitAt(all, index).release({ kind: 'unreachable' }, refused);
	}
	for (let second = 0; second < 7; second += 1) {
		for (const permit of all) {
			if (permit !== undefined && !('refused' in permit))
				permit.release({ kind: 'unreachable' }, refused);
		}
		await clock.pass(1_000);
	}
	expect(without(all).length + begun(all)).toBe(20);
	expect(without(all).length).toBeGreaterThan(0);
	expect(begun(await afterwards(come(limiter.forExecution({ execution }), 1)))).toBe(1);
});

test('what a service has answered to one run of an execution, holds for the next one', async () => {
	const [execution, other] = [{}, {}];
	const first = limiter.forExecution({ execution });
	const all = come(first, 1);
	await settled();
	permitAt(all, 0).release({ kind: 'answered' });
	expect(limiter.forExecution({ execution }).hasBeenAnswered).toBe(true);
	expect(limiter.forExecution({ execution: other }).hasBeenAnswered).toBe(false);
	expect(limiter.forExecution().hasBeenAnswered).toBe(false);
});

describe('When the service can not be reached', () => {
	test('those it has answered wait together, for a minute', async () => {
		const execution = await answered();
		const all = come(execution, 20);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			permitAt(all, index).release({ kind: 'unreachable' }, refused);
		}
		await clock.pass(51);
		expect(begun(all)).toBe(11);
		permitAt(all, 10).release({ kind: 'unreachable' }, refused);
		await clock.pass(64_000);
		expect(without(all)).toEqual([]);
		await clock.pass(1_000);
		// One had just begun to ask.
		expect(without(all)).toHaveLength(8);
	});

	test('whoever meets it for the first time does not wait, and makes nobody wait', async () => {
		const known = await answered();
		const [first] = [come(limiter.forExecution(), 1)];
		await settled();
		permitAt(first, 0).release({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(1);

		const away = come(known, 1);
		await settled();
		permitAt(away, 0).release({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(0);
		expect(begun(await afterwards(come(limiter.forExecution(), 1)))).toBe(1);
	});

	test('and whoever tried has given up, those fail together whom it never answered', async () => {
		const [execution, other] = [limiter.forExecution(), limiter.forExecution()];
		const [all, others] = [come(execution, 100), come(other, 5)];
		await settled();
		execution.giveUp({ kind: 'unreachable' }, refused);
		await settled();
		expect(without(all)).toHaveLength(90);
		expect(without(others)).toEqual([]);
		expect(await execution.acquire()).toMatchObject({ refused: 'givenUp', failure: refused });
	});
});

/** What becomes of requests, once whatever can happen now has happened. */
async function afterwards<All>(all: All): Promise<All> {
	await settled();
	return all;
}

test('whoever waits for more than a few seconds is told so, once, and when it is over', async () => {
	const told: WaitNotice[] = [];
	const execution = await answered(Infinity, (notice) => told.push(notice));
	const all = come(execution, 20);
	await settled();
	permitAt(all, 0).release({ kind: 'tooMany', retryAfter: 10_000 }, tooMany);
	await clock.pass(2_999);
	expect(told).toEqual([]);
	await clock.pass(5_000);
	expect(told).toEqual([{ kind: 'waiting', why: 'tooMany' }]);
	for (let index = 1; index < 10; index += 1) permitAt(all, index).release({ kind: 'answered' });
	await clock.pass(2_001);
	permitAt(all, 10).release({ kind: 'answered' });
	expect(told.slice(1)).toEqual([{ kind: 'resumed', after: 10_000 }]);
});

test('a failed log-in that several waited for counts once, and only for its own run', async () => {
	const [run, other] = [limiter.forExecution(), limiter.forExecution()];
	const [all, others] = [come(run, 3), come(other, 1)];
	await settled();
	await clock.pass(10);
	const counts = [0, 1, 2].map((index) => permitAt(all, index).countFailedLogin());
	expect(counts).toEqual([1, 1, 1]);
	for (const index of [0, 1, 2]) permitAt(all, index).release({ kind: 'loginFailed' });
	const again = come(run, 1);
	await clock.pass(300);
	expect(permitAt(again, 0).countFailedLogin()).toBe(2);
	expect(permitAt(others, 0).countFailedLogin()).toBe(1);
});

describe('The accounts of a process', () => {
	const limiterFor = (userName: string) =>
		limiterOf(accountOf({ baseUrl: 'http://jobs.test', userName, password: 'secret' }));

	test('have limiters of their own, each the same for all who ask', () => {
		expect(limiterFor('a')).toBe(limiterFor('a'));
		expect(limiterFor('a')).not.toBe(limiterFor('b'));
	});

	test('are the same, however their address is written', () => {
		const at = (baseUrl: string) =>
			limiterOf(accountOf({ baseUrl, userName: 'a', password: 'secret' }));
		expect(at('HTTP://Jobs.test:80/')).toBe(limiterFor('a'));
		expect(at('http://jobs.test/below')).not.toBe(limiterFor('a'));
	});

	test('are forgotten, the least recent first, once there are more than a hundred', () => {
		const [kept, forgotten] = [limiterFor('kept'), limiterFor('forgotten')];
		for (let n = 0; n < 99; n += 1) {
			limiterFor(`another ${n}`);
			limiterFor('kept');
		}
		expect(limiterFor('kept')).toBe(kept);
		expect(limiterFor('forgotten')).not.toBe(forgotten);
	});

	test('are not forgotten while a request is under way', async () => {
		const busy = limiterFor('busy');
		const all = come(busy.forExecution(), 1);
		await settled();
		for (let n = 0; n < 150; n += 1) limiterFor(`one more ${n}`);
		expect(limiterFor('busy')).toBe(busy);
		permitAt(all, 0).release({ kind: 'answered' });
	});

	test('are not forgotten while requests wait to begin', async () => {
		const held = limiterFor('held');
		const first = come(held.forExecution(), 1);
		await settled();
		permitAt(first, 0).release({ kind: 'tooMany', retryAfter: 50_000 });
		const stop = new AbortController();
		const second = come(held.forExecution(), 1, stop.signal);
		await settled();
		for (let n = 0; n < 150; n += 1) limiterFor(`yet another ${n}`);
		expect(limiterFor('held')).toBe(held);
		expect(begun(second)).toBe(0);
		stop.abort();
	});
});
