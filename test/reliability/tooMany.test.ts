import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch, itemOf, refused } from './batch';
import { counted, creates, ONE_IN_AN_HOUR, useService } from './useService';

/*
 * A service with a rate limit. How long it takes is measured in virtual time by test/pace.
 */

const service = useService();
const { callsOf } = service;

describe('A service with a rate limit', () => {
	test('and answers 429: no item fails, and no more requests are turned away than it takes to find out', async () => {
		await service.start({ limits: { perSecond: 40, burst: 10 } });
		const { items } = await service.engine.run(creates(), numbered(70));
		expect(counted(items)).toEqual({ made: 70, mayExist: 0, failed: 0 });
		expect(service.sandbox.store.jobs.size).toBe(70);
		expect(service.sandbox.limits.met.turnedAway).toBeLessThanOrEqual(60);
	});

	test('and says when to come back: no item fails, and nothing is sent before', async () => {
		await service.start({ limits: { perSecond: 40, burst: 40, retryAfter: 1 } });
		const { items } = await service.engine.run(creates(), numbered(80));
		expect(counted(items)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(service.sandbox.limits.met.tooEarly).toBe(0);
	});

	test('and answers 503: few items end without a clear answer, and none is sent twice', async () => {
		await service.start({ limits: { perSecond: 40, burst: 10, tooMany: 503 } });
		const { items } = await service.engine.run(creates(), numbered(70));
		const { made, mayExist, failed } = counted(items);
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect(service.sandbox.store.jobs.size).toBe(made);
		expect(callsOf('createJob')).toHaveLength(70);
	});

	test.each([
		[429, 'The service is receiving too many requests', '"Too many requests"'],
		[503, 'The service failed to create the job: The service is busy', '"The service is busy"'],
	] as const)('but none for a minute (%i): the rest fails', async (tooMany, message, said) => {
		await service.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 5, tooMany } });
		hurry();
		const { items } = await service.engine.run(creates(), numbered(300));
		const { turnedAway } = service.sandbox.limits.met;
		expect(turnedAway).toBeLessThan(60);
		const { made, mayExist, failed } = counted(items);
		expect({ made, all: made + mayExist + failed }).toEqual({ made: 5, all: 300 });
		// Those that were in flight when it began; then the service is asked for clusters.
		expect(mayExist).toBeLessThanOrEqual(tooMany === 503 ? 10 : 0);
		const error = { httpStatus: tooMany, description: expect.stringContaining(said) as unknown };
		expect(items.at(-1)?.json).toMatchObject({ message, error });
	});

	test('has a drop-down wait for no more than some seconds, which says why there is no list', async () => {
		await service.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 1, retryAfter: 6 } });
		await service.engine.listSearch('searchClusters');
		await expect(service.engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: 'The service is receiving too many requests',
		});
		expect(service.sandbox.limits.met.turnedAway).toBe(1);
	});
});

test('ten executions of one account have never more than a hundred requests at once', async () => {
	await service.start({ latency: 40 });
	const runs = numbered(10).map(async () => await service.engine.run(creates(), numbered(60)));
	const items = (await Promise.all(runs)).flatMap((result) => result.items);
	expect(counted(items)).toEqual({ made: 600, mayExist: 0, failed: 0 });
	expect(service.sandbox.limits.met.most).toBeGreaterThan(10);
	expect(service.sandbox.limits.met.most).toBeLessThanOrEqual(100);
});

test('a tool that an agent calls many times at once keeps to its Concurrency', async () => {
	await service.start({ latency: 20 });
	const node = { parameters: batch({ concurrency: 2 }) };
	const { answers } = await service.engine.callTool(node, numbered(8), { atOnce: true });
	expect(answers.filter((said) => said.includes('"uid"'))).toHaveLength(8);
	expect(service.sandbox.limits.met.most).toBe(2);
});

describe('Items that are always turned away do not keep the others from being sent', () => {
	test.each([
		[1, 80, {}, 60],
		[1, 80, {}, 3_600],
		[12, 100, {}, undefined],
		[1, 5, { concurrency: 1 }, 33],
		[10, 30, { concurrency: 10 }, 1],
	])('%i of %i, with %j and a Retry-After of %s', async (away, all, options, retryAfter) => {
		await service.start({});
		service.sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) < away
				? { kind: 'rateLimit', ...(retryAfter !== undefined && { retryAfter }) }
				: undefined,
		);
		hurry();
		const { items } = await service.engine.run(creates(options), numbered(all));
		expect(counted(items)).toEqual({ made: all - away, mayExist: 0, failed: away });
		expect(items[0]?.json.message).toBe('The service is receiving too many requests');
	});

	test('nor those of another execution', async () => {
		await service.start({});
		service.sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) === 1_000
				? { kind: 'rateLimit', retryAfter: 60 }
				: undefined,
		);
		hurry();
		const away = service.engine.run(creates(), [{ n: 1_000 }]);
		await until(() => callsOf('createJob').length > 0);
		const { items } = await service.engine.run(creates(), numbered(40));
		expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
		expect(counted((await away).items)).toEqual({ made: 0, mayExist: 0, failed: 1 });
	});

	test('nor jobs from being ended', async () => {
		await service.start({});
		service.sandbox.faults.plan((call) => {
			if (call.operation === 'createJob') return itemOf(call) === 3 ? refused : undefined;
			const [first] = service.sandbox.store.jobs.keys();
			return call.path.includes(`/${first}/`) ? { kind: 'rateLimit' } : undefined;
		});
		hurry();
		const { error } = await service.engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(4),
		);
		expect(error?.description).toMatch(/: could not be ended: /);
		const states = [...service.sandbox.store.jobs.values()].map(({ state }) => state);
		expect(states).toEqual(['running', 'terminated', 'terminated']);
	});
});

test("an item's error has the service's words about it, and not those about another", async () => {
	await service.start({});
	service.sandbox.faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		return answer(429, { message: `Too many, ${itemOf(call)}` });
	});
	hurry();
	const runs = [
		service.engine.run(creates({ concurrency: 1 }), numbered(1)),
		service.engine.run(creates(), [{ n: 7 }, { n: 8 }]),
	];
	const said = (await Promise.all(runs)).flatMap(({ items }) =>
		items.map(({ json }) => /Too many, \d+/.exec(JSON.stringify(json.error))?.[0]),
	);
	expect(said).toEqual(['Too many, 0', 'Too many, 7', 'Too many, 8']);
});

/** A date that is a second away at the least: such a header has no fractions of one. */
const soon = () => new Date(Date.now() + 2_000);

/** A second by the service's clock, which is five minutes ahead. */
const byItsClock = () => {
	const now = Date.now() + 300_000;
	const date = new Date(now).toUTCString();
	return { date, 'retry-after': new Date(now + 1_000).toUTCString() };
};

test.each<[string, number, () => Fault]>([
	['a connection that broke', 150, () => ({ kind: 'break', when: 'beforeActing' })],
	['a 500', 150, () => answer(500)],
	['a 429', 50, () => ({ kind: 'rateLimit' })],
	['a 429 with Retry-After in seconds', 1_000, () => ({ kind: 'rateLimit', retryAfter: 1 })],
	['a 429 with Retry-After as a date', 900, () => ({ kind: 'rateLimit', retryAfter: soon() })],
	['a 429 with Retry-After by another clock', 900, () => answer(429, undefined, byItsClock())],
	['a 503 with Retry-After', 1_000, () => answer(503, undefined, { 'retry-after': '1' })],
])('after %s, nothing is sent again within %i ms, but soon', async (_, least, fault) => {
	await service.start({});
	service.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'listClusters' && nOfOperation === 1 ? fault() : undefined,
	);
	const { error } = await service.engine.run({ parameters: getAll() });
	expect(error).toBeUndefined();
	const [first, second] = callsOf('listClusters').map(({ at }) => at);
	// The two clocks, that of the timers and that of the sandbox, may differ a little.
	expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(least - 10);
	expect(Number(second) - Number(first)).toBeLessThan(15_000);
});
