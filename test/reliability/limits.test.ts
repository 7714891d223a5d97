import type { IExecuteFunctions, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer, takesTenAtOnce } from '../support/answer';
import { create, getAll, numbered, useSandbox } from '../support/fixture';
import { awayUntil, hurry } from '../support/hurry';
import type { NodeOptions } from '../support/run';
import { until } from '../sandbox/client';
import { batch, itemOf } from './batch';

/*
 * Batches at a service that takes only so much, or is away. These tests count, so that they hold on a busy machine,
 * too. How long it takes is measured by `npm run bench:pace`, and in virtual time by test/pace.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

/** A batch of creates, in which an item's error does not end the others. */
const creates = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

/** How many of the items have a job, how many may have one, and how many certainly have none. */
function counted(items: INodeExecutionData[]) {
	const errors = items.filter(({ json }) => json.error !== undefined);
	const mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
	return { made: items.length - errors.length, mayExist, failed: errors.length - mayExist };
}

/** Runs a batch of `count` items. */
const runBatch = async (count: number, options = {}) =>
	counted((await fixture.engine.run(creates(options), numbered(count))).items);

/** Runs `count` executions of one item each, all at once. */
async function runEach(count: number, options = {}) {
	const runs = numbered(count).map(
		async (item) => await fixture.engine.run(creates(options), [item]),
	);
	return counted((await Promise.all(runs)).flatMap(({ items }) => items));
}

const jobs = () => [...fixture.sandbox.store.jobs.values()];
const TOO_MANY = 'The service is receiving too many requests';
const ONE_IN_AN_HOUR = 1 / 3_600;

describe('A service with a rate limit', () => {
	test('and answers 429: no item fails, and no more requests are turned away than it takes to find out', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 10 } });
		expect(await runBatch(70)).toEqual({ made: 70, mayExist: 0, failed: 0 });
		expect(jobs()).toHaveLength(70);
		expect(fixture.sandbox.limits.met.turnedAway).toBeLessThanOrEqual(60);
	});

	test('and says when to come back: no item fails, and nothing is sent before', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 40, retryAfter: 1 } });
		expect(await runBatch(80)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(fixture.sandbox.limits.met.tooEarly).toBe(0);
	});

	test('and answers 503: few items end without a clear answer, and none is sent twice', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 10, tooMany: 503 } });
		const { made, mayExist, failed } = await runBatch(70);
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect(jobs()).toHaveLength(made);
		expect(callsOf('createJob')).toHaveLength(70);
	});

	test.each([
		[429, TOO_MANY, '"Too many requests"'],
		[503, 'The service failed to create the job: The service is busy', '"The service is busy"'],
	] as const)('but none for a minute (%i): the rest fails', async (tooMany, message, said) => {
		await fixture.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 5, tooMany } });
		hurry();
		const { items } = await fixture.engine.run(creates(), numbered(300));
		expect(fixture.sandbox.limits.met.turnedAway).toBeLessThan(60);
		const { made, mayExist, failed } = counted(items);
		expect({ made, all: made + mayExist + failed }).toEqual({ made: 5, all: 300 });
		// Those that were in flight when it began; then the service is asked for clusters.
		expect(mayExist).toBeLessThanOrEqual(tooMany === 503 ? 10 : 0);
		const error = { httpStatus: tooMany, description: expect.stringContaining(said) as unknown };
		expect(items.at(-1)?.json).toMatchObject({ message, error });
	});

	test('has a drop-down wait for no more than some seconds, which says why there is no list', async () => {
		await fixture.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 1, retryAfter: 6 } });
		await fixture.engine.listSearch('searchClusters');
		await expect(fixture.engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: TOO_MANY,
		});
		expect(fixture.sandbox.limits.met.turnedAway).toBe(1);
	});
});

describe('Requests in flight at once', () => {
	test('are never more than a hundred, for ten executions of one account', async () => {
		await fixture.start({ latency: 40 });
		const runs = await Promise.all(numbered(10).map(async () => await runBatch(60)));
		expect(runs).toEqual(runs.map(() => ({ made: 60, mayExist: 0, failed: 0 })));
		const { most } = fixture.sandbox.limits.met;
		expect(most).toBeGreaterThan(10);
		expect(most).toBeLessThanOrEqual(100);
	});

	test('are ten at first, for eighty executions of one item each', async () => {
		await fixture.start({ latency: 300 });
		expect(await runEach(80)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(fixture.sandbox.limits.met.most).toBeLessThanOrEqual(40);
		const [first, ...others] = callsOf('createJob').map(({ at }) => at);
		expect(others.filter((at) => at < Number(first) + 200).length).toBeLessThan(10);
	});

	test('are no more than the Concurrency of a tool that an agent calls many times at once', async () => {
		await fixture.start({ latency: 20 });
		const node = { parameters: batch({ concurrency: 2 }) };
		const { answers } = await fixture.engine.callTool(node, numbered(8), { atOnce: true });
		expect(answers.filter((said) => said.includes('"uid"'))).toHaveLength(8);
		expect(fixture.sandbox.limits.met.most).toBe(2);
	});
});

test.each([
	[1, 80, {}, 3_600],
	[10, 30, { concurrency: 10 }, 1],
])(
	'%i items of %i that are always turned away do not keep the others from being sent, with %j and a Retry-After of %s',
	async (away, all, options, retryAfter) => {
		meets('createJob', (call) =>
			itemOf(call) < away ? { kind: 'rateLimit', retryAfter } : undefined,
		);
		hurry();
		const { items } = await fixture.engine.run(creates(options), numbered(all));
		expect(counted(items)).toEqual({ made: all - away, mayExist: 0, failed: away });
		expect(items[0]?.json.message).toBe(TOO_MANY);
	},
);

test("An item's error has the service's words about it, and not those about another", async () => {
	meets('createJob', (call) => answer(429, { message: `Too many, ${itemOf(call)}` }));
	hurry();
	const runs = [
		fixture.engine.run(creates({ concurrency: 1 }), numbered(1)),
		fixture.engine.run(creates(), [{ n: 7 }, { n: 8 }]),
	];
	const said = (await Promise.all(runs)).flatMap(({ items }) =>
		items.map(({ json }) => /Too many, \d+/.exec(JSON.stringify(json.error))?.[0]),
	);
	expect(said).toEqual(['Too many, 0', 'Too many, 7', 'Too many, 8']);
});

/** A second by the service's clock, which is five minutes ahead. */
function byItsClock() {
	const now = Date.now() + 300_000;
	const date = new Date(now).toUTCString();
	return { date, 'retry-after': new Date(now + 1_000).toUTCString() };
}

test.each<[string, number, () => Fault]>([
	['a connection that broke', 150, () => ({ kind: 'break', when: 'beforeActing' })],
	['a 429 with Retry-After by another clock', 900, () => answer(429, undefined, byItsClock())],
	['a 503 with Retry-After', 1_000, () => answer(503, undefined, { 'retry-after': '1' })],
])('After %s, nothing is sent again within %i ms, but soon', async (_, least, fault) => {
	meets('listClusters', ({ nOfOperation }) => (nOfOperation === 1 ? fault() : undefined));
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error).toBeUndefined();
	const [first, second] = callsOf('listClusters').map(({ at }) => at);
	// The two clocks, that of the timers and that of the sandbox, may differ a little.
	expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(least - 10);
	expect(Number(second) - Number(first)).toBeLessThan(15_000);
});

describe('A service that fails', () => {
	test('when more than ten are at once leaves few uncertain, and fewer once it is known', async () => {
		fixture.sandbox.faults.plan(takesTenAtOnce(120));
		const [first, second] = [await runEach(40), await runEach(40)];
		expect(first.failed + second.failed).toBe(0);
		// Five where the machine is idle; on a busy one, more start before the first failure is read.
		expect(first.mayExist).toBeLessThanOrEqual(8);
		expect(second.mayExist).toBeLessThanOrEqual(2);
		expect(jobs()).toHaveLength(first.made + second.made);
	});

	test('for creates alone leaves some of eighty executions uncertain, and lists go on', async () => {
		hurry();
		meets('createJob', () => answer(500, { message: 'Out of order' }));
		const { mayExist, made } = await runEach(80);
		expect(made).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect((await fixture.engine.run({ parameters: getAll() })).error).toBeUndefined();
	});

	test.each([
		['one execution', async () => await runBatch(120)],
		['an execution for each item', async () => await runEach(80)],
	])('by its silence, and answers again, creates all others, in %s', async (_, run) => {
		const { orRunOut } = hurry();
		let silent = 0;
		fixture.sandbox.faults.plan(({ operation }) => {
			if (jobs().length < 20 || silent === 20) return undefined;
			silent = operation === 'listClusters' ? silent + 4 : silent;
			return orRunOut({ kind: 'stall', when: 'beforeActing' });
		});
		const { made, mayExist, failed } = await run();
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(16);
		expect(jobs()).toHaveLength(made);
		expect(new Set(jobs().map(({ displayName }) => displayName)).size).toBe(made);
	});
});

describe('A service that is away', () => {
	test('and refuses connections in mid-batch loses what was in flight alone', async () => {
		await fixture.start({ latency: 10 });
		hurry();
		const running = fixture.engine.start([creates()], numbered(100));
		await until(() => jobs().length >= 20);
		await awayUntil(fixture, '', 12);
		const { made, mayExist, failed } = counted((await running.result).items);
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 100 });
		expect(mayExist).toBeLessThanOrEqual(40);
	});

	test('but answered an earlier node of the execution, is waited for', async () => {
		const { node } = fixture.engine.loaded;
		const { execute } = node;
		const runs = jest.spyOn(node as Required<typeof node>, 'execute');
		runs.mockImplementation(async function (this: IExecuteFunctions) {
			// One that has not answered is given up after four requests.
			if (runs.mock.calls.length === 2) await awayUntil(fixture, '/jobs', 6);
			return (await execute?.call(this)) ?? [];
		});
		hurry();
		const nodes = [{ parameters: getAll({ limit: 1 }) }, { parameters: create() }];
		expect((await fixture.engine.start(nodes, [{}]).result).error).toBeUndefined();
		expect(jobs()).toHaveLength(1);
	});

	test('from the start has a thousand items fail together', async () => {
		await fixture.sandbox.goAway();
		hurry();
		const { items } = await fixture.engine.run(creates(), numbered(1_000));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 1_000 });
		expect(new Set(items.map(({ json }) => json.message)).size).toBe(1);
		expect(items.at(-1)?.json.message).toMatch(/can't be reached/);
	});
});

describe('A login that is told to wait', () => {
	test('is made once again, and nothing is sent before', async () => {
		hurry();
		const startedAt = performance.now();
		meets('login', ({ nOfOperation }) =>
			nOfOperation === 1 ? { kind: 'rateLimit', retryAfter: 50 } : undefined,
		);
		expect(await runBatch(50)).toEqual({ made: 50, mayExist: 0, failed: 0 });
		expect(callsOf('login')).toHaveLength(2);
		expect(performance.now() - startedAt).toBeGreaterThanOrEqual(50_000);
	});

	test('for longer than a minute fails all items at once, and says so; later ones without another login', async () => {
		hurry();
		meets('login', () => ({ kind: 'rateLimit', retryAfter: 600 }));
		for (const parameters of [batch({ concurrency: 1 }), batch(), getAll()]) {
			const { items } = await fixture.engine.run({ ...creates(), parameters }, numbered(50));
			const { message, error } = Object(items.at(-1)?.json);
			expect(message).toBe(TOO_MANY);
			expect(error).toMatchObject({ description: expect.stringContaining('10 minutes') });
			expect(items.filter(({ json }) => json.error === undefined)).toEqual([]);
		}
		expect(callsOf('login')).toHaveLength(1);
	});
});

test('A login that fails three times, and then not, fails no item', async () => {
	hurry();
	meets('login', ({ nOfOperation }) => (nOfOperation <= 3 ? answer(504) : undefined));
	expect(await runBatch(50)).toEqual({ made: 50, mayExist: 0, failed: 0 });
	expect(callsOf('login')).toHaveLength(4);
});
