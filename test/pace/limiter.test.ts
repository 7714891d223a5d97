import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import { AccountLimiter, limiterOf } from '../../nodes/JobOrchestration/service/pace/limiter';
import { begun, come, permitAt, SetClock, settled, without } from './requests';

/*
 * Which requests may begin, and in what order. When all wait: limiterWaits.test.ts.
 */

let clock: SetClock;
let limiter: AccountLimiter;
beforeEach(() => {
	clock = new SetClock();
	limiter = new AccountLimiter(clock);
});
afterEach(() => jest.restoreAllMocks());

test('ten begin at first, in their order, whosever they are', async () => {
	const [one, another] = [limiter.forExecution(), limiter.forExecution()];
	const [first, second, third] = [come(one, 6), come(another, 6), come(one, 6)];
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 4, 0]);
	permitAt(first, 0).release({ kind: 'otherAnswer' });
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 5, 0]);
});

test('a single request waits for one of a batch, not for all of them', async () => {
	const batch = come(limiter.forExecution(), 100);
	await settled();
	const single = come(limiter.forExecution(), 1);
	const another = come(limiter.forExecution(), 3);
	for (const index of [0, 1, 2]) permitAt(batch, index).release({ kind: 'otherAnswer' });
	await settled();
	expect([batch, single, another].map(begun)).toEqual([11, 1, 1]);
	for (const index of [3, 4]) permitAt(batch, index).release({ kind: 'otherAnswer' });
	await settled();
	expect([batch, single, another].map(begun)).toEqual([12, 1, 2]);
});

test('whoever was sent before goes first, even before another execution that has waited for its turn', async () => {
	const batch = come(limiter.forExecution(), 20);
	await settled();
	const single = come(limiter.forExecution(), 1);
	const again = come(limiter.forExecution(), 2, undefined, { goesFirst: true });
	permitAt(batch, 0).release({ kind: 'otherAnswer' });
	await settled();
	expect([begun(batch), begun(single), begun(again)]).toEqual([10, 0, 1]);
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
	permitAt(all[0] ?? [], 0).release({ kind: 'otherAnswer' });
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
	expect(without(stopped)).toEqual(new Array(5).fill({ denied: 'stopped' }));
	expect(other).toEqual([undefined]);
	expect(await execution.acquire(stop.signal)).toEqual({ denied: 'stopped' });
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
		permitAt(all, 0).release({ kind: 'otherAnswer' });
	});

	test('are not forgotten while requests wait to begin', async () => {
		const held = limiterFor('held');
		const first = come(held.forExecution(), 1);
		await settled();
		permitAt(first, 0).release({ kind: 'throttled', retryAfter: 50_000 });
		const stop = new AbortController();
		const second = come(held.forExecution(), 1, stop.signal);
		await settled();
		for (let n = 0; n < 150; n += 1) limiterFor(`yet another ${n}`);
		expect(limiterFor('held')).toBe(held);
		expect(begun(second)).toBe(0);
		stop.abort();
	});
});
