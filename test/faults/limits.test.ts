import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { freePort } from '../../host/ports';
import type { Fault, Plan, Sandbox, SandboxOptions } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { answer } from '../engine/answer';
import { change, create, credentialFor, getAll, numbered } from '../engine/fixture';
import { hurry } from '../engine/hurry';
import type { NodeOptions } from '../engine/run';
import { Engine } from '../engine/run';
import { until } from '../sandbox/client';
import { batch, itemOf, refused } from './batch';

/*
 * Batches at a service that bears only so much, or is away. Nothing here is timed: what is counted holds on a busy
 * machine, too, which may be too slow to meet a limit. How long it takes is measured by `npm run bench:pace`, and in
 * virtual time by test/pace.
 */

let sandbox: Sandbox;
let engine: Engine;

async function start(options: SandboxOptions): Promise<void> {
	sandbox = await startSandbox({ port: await freePort(), ...options });
	engine = await Engine.load();
	engine.saveCredential(credentialFor(sandbox));
}
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

/** A batch of creates, in which an item's error does not end the others. */
const creates = (options = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

/** How many of the items have a job, how many may have one, and how many certainly have none. */
function counted(items: INodeExecutionData[]) {
	const errors = items.filter(({ json }) => json.error !== undefined);
	const mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
	return { made: items.length - errors.length, mayExist, failed: errors.length - mayExist };
}

const ONE_IN_AN_HOUR = 1 / 3_600;

describe('A service that takes so many a second', () => {
	test('and answers 429: no item fails, and no more requests are turned away than it takes to find out', async () => {
		await start({ limits: { perSecond: 40, burst: 10 } });
		const { items } = await engine.run(creates(), numbered(70));
		expect(counted(items)).toEqual({ made: 70, mayExist: 0, failed: 0 });
		expect(sandbox.store.jobs.size).toBe(70);
		expect(sandbox.limits.met.turnedAway).toBeLessThanOrEqual(60);
	});

	test('and says when to come back: no item fails, and nothing is sent before', async () => {
		await start({ limits: { perSecond: 40, burst: 40, retryAfter: 1 } });
		const { items } = await engine.run(creates(), numbered(80));
		expect(counted(items)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(sandbox.limits.met.tooEarly).toBe(0);
	});

	test('and answers 503: few items end without a clear answer, and none is sent twice', async () => {
		await start({ limits: { perSecond: 40, burst: 10, tooMany: 503 } });
		const { items } = await engine.run(creates(), numbered(70));
		const { made, mayExist, failed } = counted(items);
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect(sandbox.store.jobs.size).toBe(made);
		expect(sandbox.calls.filter(({ operation }) => operation === 'createJob')).toHaveLength(70);
	});

	test('takes all calls of an agent, one after the other', async () => {
		await start({ limits: { perSecond: 20, burst: 2 } });
		const calls = numbered(6);
		const { answers } = await engine.callTool({ parameters: batch() }, calls);
		expect(answers.filter((answer) => answer.includes('"uid"'))).toHaveLength(6);
		expect(sandbox.store.jobs.size).toBe(6);
	});

	test('but none for a minute: the items that wait fail together, in its words', async () => {
		await start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 5 } });
		hurry();
		const { items } = await engine.run(creates(), numbered(300));
		expect(counted(items)).toEqual({ made: 5, mayExist: 0, failed: 295 });
		expect(sandbox.limits.met.turnedAway).toBeLessThan(60);
		expect(items.at(-1)?.json).toMatchObject({
			message: 'The service is receiving too many requests',
			error: {
				httpStatus: 429,
				description: expect.stringMatching(
					/"Too many requests"[^]*All requests had been waiting for the service for \d+ s/,
				),
			},
		});
	});
});

describe('Items that are always turned away do not keep the others from being sent', () => {
	test.each([
		[1, 80, {}, 1],
		[1, 80, {}, 33],
		[1, 80, {}, 60],
		[1, 80, {}, 3_600],
		[12, 100, {}, undefined],
		[1, 5, { concurrency: 1 }, undefined],
		[1, 5, { concurrency: 1 }, 33],
		[3, 10, { concurrency: 3 }, undefined],
		[10, 30, { concurrency: 10 }, 1],
	])('%i of %i, with %j and a Retry-After of %s', async (away, all, options, retryAfter) => {
		await start({});
		sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) < away
				? { kind: 'rateLimit', ...(retryAfter !== undefined && { retryAfter }) }
				: undefined,
		);
		hurry();
		const { items } = await engine.run(creates(options), numbered(all));
		expect(counted(items)).toEqual({ made: all - away, mayExist: 0, failed: away });
		expect(items[0]?.json.message).toBe('The service is receiving too many requests');
	});

	test('nor those of another execution', async () => {
		await start({});
		sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) === 1_000
				? { kind: 'rateLimit', retryAfter: 60 }
				: undefined,
		);
		hurry();
		const away = engine.run(creates(), [{ n: 1_000 }]);
		await until(() => sandbox.calls.some(({ operation }) => operation === 'createJob'));
		const { items } = await engine.run(creates(), numbered(40));
		expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
		expect(counted((await away).items)).toEqual({ made: 0, mayExist: 0, failed: 1 });
	});

	test('nor jobs from being ended', async () => {
		await start({});
		sandbox.faults.plan((call) => {
			if (call.operation === 'createJob') return itemOf(call) === 3 ? refused : undefined;
			const [first] = sandbox.store.jobs.keys();
			return call.path.includes(`/${first}/`) ? { kind: 'rateLimit' } : undefined;
		});
		hurry();
		const { error } = await engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(4),
		);
		expect(error?.description).toMatch(/could not end \(1\):/);
		const states = [...sandbox.store.jobs.values()].map(({ state }) => state);
		expect(states).toEqual(['running', 'terminated', 'terminated']);
	});
});

test('with Concurrency 1, those that are turned away once keep their order', async () => {
	await start({});
	sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && [2, 5, 9].includes(nOfOperation)
			? { kind: 'rateLimit' }
			: undefined,
	);
	hurry();
	await engine.run(creates({ concurrency: 1 }), numbered(10));
	const names = [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);
	expect(names).toEqual(numbered(10).map(({ n }) => `Job ${String(n)}`));
});

test("an item's error has the service's words about it, and not those about another", async () => {
	await start({});
	sandbox.faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		return answer(429, { message: `Too many, ${itemOf(call)}` });
	});
	hurry();
	const runs = [
		engine.run(creates({ concurrency: 1 }), numbered(1)),
		engine.run(creates(), [{ n: 7 }, { n: 8 }]),
	];
	const said = (await Promise.all(runs)).map(({ items }) =>
		items.map(({ json }) => {
			const { description } = Object(json.error) as { description: string };
			return /The service [^.]*(?=\.)/.exec(description)?.[0];
		}),
	);
	expect(said).toEqual([
		['The service says: "Too many, 0" (HTTP 429)'],
		['The service says: "Too many, 7" (HTTP 429)', 'The service says: "Too many, 8" (HTTP 429)'],
	]);
});

test.each([59, 60])(
	'a service that takes nothing for %i seconds, and does not say for how long, is waited for',
	async (seconds) => {
		await start({});
		hurry();
		const begunAt = performance.now();
		sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' && performance.now() - begunAt < seconds * 1_000
				? { kind: 'rateLimit' }
				: undefined,
		);
		const { items } = await engine.run(creates(), numbered(20));
		expect(counted(items)).toEqual({ made: 20, mayExist: 0, failed: 0 });
	},
);

test('where the service wants an hour, it is asked again after a minute', async () => {
	await start({});
	sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation === 13
			? { kind: 'rateLimit', retryAfter: 3_600 }
			: undefined,
	);
	hurry();
	const { items } = await engine.run(creates(), numbered(40));
	expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
});

test('an error that was waited for says for how long, and how often the service was asked', async () => {
	await start({});
	hurry();
	sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation !== 'createJob' || nOfOperation === 1) return undefined;
		return { kind: 'rateLimit', retryAfter: nOfOperation === 2 ? 1 : 3_600 };
	});
	const { items } = await engine.run(creates({ concurrency: 1 }), numbered(5));
	expect(counted(items)).toEqual({ made: 1, mayExist: 0, failed: 4 });
	for (const { json } of items.slice(1)) {
		expect(Object(json.error).description).toMatch(
			/All requests had been waiting for the service for \d+ s, and asked it (?:once|2 times)\./,
		);
	}
});

test('a service that serves four at once is not sent a crowd', async () => {
	await start({ latency: 20, limits: { atOnce: 4 } });
	const { items } = await engine.run(creates(), numbered(200));
	expect(counted(items)).toEqual({ made: 200, mayExist: 0, failed: 0 });
	// A hundred at once would leave 96 waiting; how few it can be is measured by test/pace, without a machine.
	expect(sandbox.limits.met.averageWaiting).toBeLessThan(60);
});

describe('Never more than a hundred requests at once', () => {
	test('by ten executions of one account', async () => {
		await start({ latency: 40 });
		const runs = Array.from({ length: 10 }, async () => await engine.run(creates(), numbered(60)));
		const items = (await Promise.all(runs)).flatMap((result) => result.items);
		expect(counted(items)).toEqual({ made: 600, mayExist: 0, failed: 0 });
		expect(sandbox.limits.met.most).toBeGreaterThan(10);
		expect(sandbox.limits.met.most).toBeLessThanOrEqual(100);
	});

	test('and no more than Concurrency says, where it is set', async () => {
		await start({ limits: { perSecond: 40, burst: 5 } });
		const { items } = await engine.run(creates({ concurrency: 3 }), numbered(40));
		expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
		expect(sandbox.limits.met.most).toBeLessThanOrEqual(3);
	});
});

test('a tool that an agent calls many times at once keeps to its Concurrency', async () => {
	await start({ latency: 20 });
	const node = { parameters: batch({ concurrency: 2 }) };
	const { answers } = await engine.callTool(node, numbered(8), { atOnce: true });
	expect(answers.filter((answer) => answer.includes('"uid"'))).toHaveLength(8);
	expect(sandbox.limits.met.most).toBe(2);
});

test('a log-in that fails three times, and then not, fails no item', async () => {
	await start({});
	hurry();
	sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation <= 3 ? answer(500) : undefined,
	);
	const { items } = await engine.run(creates(), numbered(50));
	expect(counted(items)).toEqual({ made: 50, mayExist: 0, failed: 0 });
	expect(sandbox.calls.filter(({ operation }) => operation === 'login')).toHaveLength(4);
});

describe.each<[string, Fault]>([
	['is answered with a 500', answer(500)],
	['is answered with a 408', answer(408)],
	['breaks off', { kind: 'break', when: 'beforeActing' }],
])('A log-in that %s', (_, fault) => {
	test('fails all items together, after as many tries as one item has', async () => {
		await start({});
		hurry();
		sandbox.faults.plan(({ operation }) => (operation === 'login' ? fault : undefined));
		const begunAt = performance.now();
		const { items } = await engine.run(creates(), numbered(100));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 100 });
		expect(sandbox.calls.length).toBe(4);
		expect(performance.now() - begunAt).toBeLessThan(20_000);
	});
});

/** The service is away until so many requests have not reached it. */
async function awayFor(requests: number): Promise<void> {
	let missed = 0;
	const onRequest = () => {
		if ((missed += 1) < requests) return;
		unsubscribe('http.client.request.start', onRequest);
		void sandbox.comeBack();
	};
	await sandbox.goAway();
	subscribe('http.client.request.start', onRequest);
}

describe('A service that is away', () => {
	test('in mid-batch: only what was under way has no clear answer', async () => {
		await start({ latency: 20 });
		const running = engine.start([creates()], numbered(300));
		await until(() => sandbox.store.jobs.size >= 60);
		await sandbox.goAway();
		const madeBefore = sandbox.store.jobs.size;
		await new Promise((resolve) => setTimeout(resolve, 150));
		await sandbox.comeBack();
		const { made, mayExist, failed } = counted((await running.result).items);
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 300 });
		expect(mayExist).toBeLessThanOrEqual(100);
		expect(made).toBeGreaterThanOrEqual(madeBefore - 100);
		const names = [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);
		expect(new Set(names).size).toBe(names.length);
	});

	test.each([
		['as many at once as it takes', {}, 40],
		['one at once', { concurrency: 1 }, 8],
	])(
		'and cuts off whoever connects, in mid-batch: little has no clear answer, with %s',
		async (_, options, most) => {
			await start({ latency: 10 });
			const running = engine.start([creates(options)], numbered(300));
			await until(() => sandbox.store.jobs.size >= 20);
			sandbox.faults.plan(() => ({ kind: 'break', when: 'beforeActing' }));
			await new Promise((resolve) => setTimeout(resolve, 300));
			sandbox.faults.plan(() => undefined);
			const { made, mayExist, failed } = counted((await running.result).items);
			expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 300 });
			expect(mayExist).toBeLessThanOrEqual(most);
		},
	);

	test('jobs that are to be ended are, once it is back', async () => {
		await start({});
		sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation !== 'createJob' || nOfOperation < 3) return undefined;
			return { kind: 'wait', when: 'beforeActing', until: sandbox.goAway() };
		});
		hurry();
		// A service that has not answered is given up after four requests.
		let asked = 0;
		const onRequest = (message: unknown) => {
			const { path } = (message as { request: ClientRequest }).request;
			if (path.endsWith('/terminate') && (asked += 1) === 6) void sandbox.comeBack();
		};
		subscribe('http.client.request.start', onRequest);
		const { error } = await engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(4),
		);
		unsubscribe('http.client.request.start', onRequest);
		expect(error?.description).toMatch(/has terminated \(2\):/);
		const states = [...sandbox.store.jobs.values()].map(({ state }) => state);
		expect(states.slice(0, 2)).toEqual(['terminated', 'terminated']);
	});

	test('but answered an earlier node of the execution, is waited for', async () => {
		await start({});
		const { node } = engine.loaded;
		const { execute } = node;
		const runs = jest.spyOn(node as Required<typeof node>, 'execute');
		runs.mockImplementation(async function (this: IExecuteFunctions) {
			if (runs.mock.calls.length === 2) await sandbox.goAway();
			return (await execute?.call(this)) ?? [];
		});
		hurry();
		// A service that has not answered is given up after four requests.
		let asked = 0;
		const onRequest = (message: unknown) => {
			const { path } = (message as { request: ClientRequest }).request;
			if (path.endsWith('/jobs') && (asked += 1) === 6) void sandbox.comeBack();
		};
		subscribe('http.client.request.start', onRequest);
		const { error } = await engine.start(
			[{ parameters: getAll({ limit: 1 }) }, { parameters: create() }],
			[{}],
		).result;
		unsubscribe('http.client.request.start', onRequest);
		expect(error).toBeUndefined();
		expect(sandbox.store.jobs.size).toBe(1);
	});

	test('from the start: a thousand items fail together, not one after the other', async () => {
		await start({});
		await sandbox.goAway();
		hurry();
		const { items } = await engine.run(creates(), numbered(1_000));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 1_000 });
		expect(new Set(items.map(({ json }) => json.message)).size).toBe(1);
		expect(items.at(-1)?.json.message).toMatch(/can't be reached/);
	});
});

describe('While all wait', () => {
	test('a cancel ends the waiting at once', async () => {
		await start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 3, retryAfter: 50 } });
		const execute = jest.spyOn(engine.loaded.node, 'execute');
		const running = engine.start([creates()], numbered(200));
		await until(() => sandbox.limits.met.turnedAway > 0 && sandbox.limits.met.underWay === 0);
		running.cancel();
		await running.result;
		await expect(execute.mock.results[0]?.value).rejects.toThrow();
		expect(sandbox.store.jobs.size).toBe(3);
	});

	const isBetween = (first: number, last: number, n: number) => n >= first && n <= last;

	test.each<[why: string, ends: ReturnType<typeof counted>, plan: Plan]>([
		[
			'it is receiving too many',
			{ made: 12, mayExist: 0, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && nOfOperation === 2
					? { kind: 'rateLimit', retryAfter: 10 }
					: undefined,
		],
		[
			'it is unavailable',
			{ made: 3, mayExist: 9, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && isBetween(2, 10, nOfOperation) ? answer(503) : undefined,
		],
		[
			'its connections break',
			{ made: 3, mayExist: 9, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && isBetween(2, 10, nOfOperation)
					? { kind: 'break', when: 'beforeActing' }
					: undefined,
		],
		[
			'its log-in fails',
			{ made: 11, mayExist: 0, failed: 1 },
			({ operation, nOfOperation }) => {
				if (operation === 'login') return isBetween(2, 7, nOfOperation) ? answer(500) : undefined;
				return nOfOperation === 2 ? { kind: 'expireTokens' } : undefined;
			},
		],
		[
			"it can't be reached",
			{ made: 11, mayExist: 1, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && nOfOperation === 2
					? { kind: 'wait', when: 'beforeActing', until: awayFor(9) }
					: undefined,
		],
	])("n8n's log says so after a few seconds, and when they go on: %s", async (why, ends, plan) => {
		await start({});
		sandbox.faults.plan(plan);
		hurry();
		const execute = jest.spyOn(engine.loaded.node, 'execute');
		const running = engine.start([creates({ concurrency: 1 })], numbered(12));
		await until(() => execute.mock.calls.length === 1);
		const context = (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		const info = jest.spyOn(context.logger, 'info').mockImplementation();
		const { items } = await running.result;
		expect(counted(items)).toEqual(ends);
		const log = info.mock.calls.map(([text]) => text.replace(sandbox.url, 'URL'));
		expect(log).toEqual([
			`Requests to the job orchestration service at URL are waiting: ${why}`,
			expect.stringMatching(
				/^The job orchestration service at URL takes requests again, after \d+ s$/,
			),
		]);
	});

	test('a drop-down does not wait for more than some seconds, and says why there is no list', async () => {
		await start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 1, retryAfter: 6 } });
		await engine.listSearch('searchClusters');
		await expect(engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: 'The service is receiving too many requests',
		});
		expect(sandbox.limits.met.turnedAway).toBe(1);
	});

	test('jobs that are to be ended are not, where the service wants an hour: they are named', async () => {
		await start({});
		hurry();
		const hour = { kind: 'rateLimit', retryAfter: 3_600 } as const;
		sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'changeJobState') return hour;
			return operation === 'createJob' && nOfOperation === 3 ? refused : undefined;
		});
		const { error } = await engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(5),
		);
		expect(error?.description).toMatch(/could not end \(2\):/);
		expect(sandbox.calls.filter(({ operation }) => operation === 'changeJobState')).toHaveLength(2);
		// Nor does whoever comes next wait for an hour.
		const next = await engine.run({ parameters: change('stop', { jobId: 'any' }) });
		expect(next.error?.message).toBe('The service is receiving too many requests');
	});
});
