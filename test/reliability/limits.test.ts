import type { IExecuteFunctions, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer, takesTenAtOnce } from '../support/answer';
import { create, getAll, numbered, useSandbox } from '../support/fixture';
import { awayUntil, hurry } from '../support/hurry';
import type { NodeOptions } from '../support/run';
import { until } from '../sandbox/client';
import { batch, itemOf } from './batch';

/*
 * Batches succeed at services that are limited or unavailable for a while, and the node sends few requests in vain. The
 * tests count requests, so that they also pass on a busy machine; `npm run bench:pace` measures durations, and
 * test/pace does so in virtual time.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

/** Returns a batch of creates in which the error of an item doesn't end the others. */
const creates = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

/** Returns how many items have a job, how many may have one, and how many certainly have none. */
function counted(items: INodeExecutionData[]) {
	const errors = items.filter(({ json }) => json.error !== undefined);
	const mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
	return { made: items.length - errors.length, mayExist, failed: errors.length - mayExist };
}

/** Runs a batch of `count` items in one execution. */
const runBatch = async (count: number, options = {}) =>
	counted((await fixture.engine.run(creates(options), numbered(count))).items);

/** Runs `count` executions at the same time, each with one item. */
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
	test('that answers 429 causes no item to fail, and rejects few requests', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 10 } });
		expect(await runBatch(70)).toEqual({ made: 70, mayExist: 0, failed: 0 });
		expect(jobs()).toHaveLength(70);
		expect(fixture.sandbox.limits.met.turnedAway).toBeLessThanOrEqual(60);
	});

	test('that sends a Retry-After causes no item to fail, and gets no request before that time', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 40, retryAfter: 1 } });
		expect(await runBatch(80)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(fixture.sandbox.limits.met.tooEarly).toBe(0);
	});

	test('that answers 503 leaves few items uncertain, and no item is sent twice', async () => {
		await fixture.start({ limits: { perSecond: 40, burst: 10, tooMany: 503 } });
		const { made, mayExist, failed } = await runBatch(70);
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect(jobs()).toHaveLength(made);
		expect(callsOf('createJob')).toHaveLength(70);
	});

	test.each([
		[429, TOO_MANY, '"Too many requests"'],
		[
			503,
			'The service failed to answer a health check: The service is busy',
			'"The service is busy"',
		],
	] as const)(
		'that accepts nothing for more than a minute makes the remaining items fail: %i',
		async (tooMany, message, said) => {
			await fixture.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 5, tooMany } });
			hurry();
			const { items } = await fixture.engine.run(creates(), numbered(300));
			expect(fixture.sandbox.limits.met.turnedAway).toBeLessThan(60);
			const { made, mayExist, failed } = counted(items);
			expect({ made, all: made + mayExist + failed }).toEqual({ made: 5, all: 300 });
			// These are the creates that were in flight when it began. After them, the node sends health checks.
			expect(mayExist).toBeLessThanOrEqual(tooMany === 503 ? 10 : 0);
			const error = { httpStatus: tooMany, description: expect.stringContaining(said) as unknown };
			expect(items.at(-1)?.json).toMatchObject({ message, error });
		},
	);

	test('delays a drop-down for only a few seconds, and the drop-down shows the reason', async () => {
		await fixture.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 1, retryAfter: 6 } });
		await fixture.engine.listSearch('searchClusters');
		await expect(fixture.engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: TOO_MANY,
		});
		expect(fixture.sandbox.limits.met.turnedAway).toBe(1);
	});
});

describe('Concurrent requests', () => {
	test('are never more than a hundred, for ten executions of one account', async () => {
		await fixture.start({ latency: 40 });
		const runs = await Promise.all(numbered(10).map(async () => await runBatch(60)));
		expect(runs).toEqual(runs.map(() => ({ made: 60, mayExist: 0, failed: 0 })));
		const { most } = fixture.sandbox.limits.met;
		expect(most).toBeGreaterThan(10);
		expect(most).toBeLessThanOrEqual(100);
	});

	test('are at most ten at first, for eighty executions of one item each', async () => {
		await fixture.start({ latency: 300 });
		expect(await runEach(80)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(fixture.sandbox.limits.met.most).toBeLessThanOrEqual(40);
		const [first, ...others] = callsOf('createJob').map(({ at }) => at);
		expect(others.filter((at) => at < Number(first) + 200).length).toBeLessThan(10);
	});

	test('do not exceed the Concurrency of a tool that an agent calls many times at the same time', async () => {
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
	'%i items of %i that are always throttled do not block the others, with %j and a Retry-After of %s',
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

test("The error of an item quotes the service's response to this item, and not to another one", async () => {
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

test('The error of an execution that sent nothing has nothing of the response to the login of another', async () => {
	meets('login', () => answer(429, { message: 'Ann has to wait' }, { 'retry-after': '3600' }));
	const login = await fixture.engine.run({ parameters: create() });
	expect(login.error?.description).toContain('Ann has to wait');
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(/^Try again later/);
	expect(error?.description).toContain('Other requests were answered with HTTP 429.');
	expect(`${error?.message} ${error?.description}`).not.toContain('Ann');
	expect(callsOf('login')).toHaveLength(1);
});

/**
 * Returns headers whose Retry-After is the date one second later by the clock of the service, which is five minutes
 * fast.
 */
function byItsClock() {
	const now = Date.now() + 300_000;
	const date = new Date(now).toUTCString();
	return { date, 'retry-after': new Date(now + 1_000).toUTCString() };
}

test.each<[string, number, () => Fault]>([
	['a connection that broke', 150, () => ({ kind: 'break', when: 'beforeActing' })],
	['a 429 with Retry-After by another clock', 900, () => answer(429, undefined, byItsClock())],
	['a 503 with Retry-After', 1_000, () => answer(503, undefined, { 'retry-after': '1' })],
])('After %s, the request is sent again, but not within %i ms', async (_, least, fault) => {
	meets('listClusters', ({ nOfOperation }) => (nOfOperation === 1 ? fault() : undefined));
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error).toBeUndefined();
	const [first, second] = callsOf('listClusters').map(({ at }) => at);
	// The clock of the timers and the clock of the sandbox may differ slightly.
	expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(least - 10);
	expect(Number(second) - Number(first)).toBeLessThan(15_000);
});

describe('A service that fails', () => {
	test('at more than ten concurrent requests leaves few items uncertain, and fewer in later executions', async () => {
		fixture.sandbox.faults.plan(takesTenAtOnce(120));
		const [first, second] = [await runEach(40), await runEach(40)];
		expect(first.failed + second.failed).toBe(0);
		// On an idle machine, there are five. On a busy one, more requests start before the first failure is read.
		expect(first.mayExist).toBeLessThanOrEqual(8);
		expect(second.mayExist).toBeLessThanOrEqual(2);
		expect(jobs()).toHaveLength(first.made + second.made);
	});

	test('only for creates leaves at most thirty of eighty executions uncertain, and still answers lists', async () => {
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
	])('to respond for a while loses only the requests in flight, in %s', async (_, run) => {
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

describe("A service that can't be reached", () => {
	test('in the middle of a batch loses only the requests in flight', async () => {
		await fixture.start({ latency: 10 });
		hurry();
		const running = fixture.engine.start([creates()], numbered(100));
		await until(() => jobs().length >= 20);
		await awayUntil(fixture, '', 12);
		const { made, mayExist, failed } = counted((await running.result).items);
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 100 });
		expect(mayExist).toBeLessThanOrEqual(40);
	});

	test('but has answered an earlier node of the execution is waited for', async () => {
		const { node } = fixture.engine.loaded;
		const { execute } = node;
		const runs = jest.spyOn(node as Required<typeof node>, 'execute');
		runs.mockImplementation(async function (this: IExecuteFunctions) {
			// A service that has never answered is given up after four requests.
			if (runs.mock.calls.length === 2) await awayUntil(fixture, '/jobs', 6);
			return (await execute?.call(this)) ?? [];
		});
		hurry();
		const nodes = [{ parameters: getAll({ limit: 1 }) }, { parameters: create() }];
		expect((await fixture.engine.start(nodes, [{}]).result).error).toBeUndefined();
		expect(jobs()).toHaveLength(1);
	});

	test('from the start makes a thousand items fail together', async () => {
		await fixture.sandbox.goAway();
		hurry();
		const { items } = await fixture.engine.run(creates(), numbered(1_000));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 1_000 });
		expect(new Set(items.map(({ json }) => json.message)).size).toBe(1);
		expect(items.at(-1)?.json.message).toMatch(/can't be reached/);
	});
});

describe('A throttled login', () => {
	test('is repeated once, after its Retry-After', async () => {
		hurry();
		const startedAt = performance.now();
		meets('login', ({ nOfOperation }) =>
			nOfOperation === 1 ? { kind: 'rateLimit', retryAfter: 50 } : undefined,
		);
		expect(await runBatch(50)).toEqual({ made: 50, mayExist: 0, failed: 0 });
		expect(callsOf('login')).toHaveLength(2);
		expect(performance.now() - startedAt).toBeGreaterThanOrEqual(50_000);
	});

	test('with a Retry-After of more than a minute makes all items fail at once, and later ones without another login', async () => {
		hurry();
		meets('login', () => ({ kind: 'rateLimit', retryAfter: 600 }));
		for (const parameters of [batch({ concurrency: 1 }), batch(), getAll()]) {
			const { items } = await fixture.engine.run({ ...creates(), parameters }, numbered(50));
			const { message, error } = Object(items.at(-1)?.json);
			expect(message).toBe(TOO_MANY);
			const said = /asks to wait 600 s|Other requests were answered with HTTP 429/;
			expect(error).toMatchObject({ description: expect.stringMatching(said) });
			expect(items.filter(({ json }) => json.error === undefined)).toEqual([]);
		}
		expect(callsOf('login')).toHaveLength(1);
	});
});

test('A login that fails three times and then succeeds makes no item fail', async () => {
	hurry();
	meets('login', ({ nOfOperation }) => (nOfOperation <= 3 ? answer(504) : undefined));
	expect(await runBatch(50)).toEqual({ made: 50, mayExist: 0, failed: 0 });
	expect(callsOf('login')).toHaveLength(4);
});
