import { getEventListeners } from 'node:events';

import type { IDataObject, IExecuteFunctions, INode, INodeParameters } from 'n8n-workflow';

import { startSandbox } from '../../sandbox';
import type { Fault, Plan, PlannedCall } from '../../sandbox';
import { change, create, credentialFor, getAll, numbered, useSandbox } from '../engine/fixture';
import type { Result } from '../engine/run';
import { until } from '../sandbox/client';

/*
 * What becomes of the items of a batch when some of them go wrong.
 */

const fixture = useSandbox();

/** A create for each item, named by its number. */
const batch = (options: INodeParameters = {}) =>
	create({ displayName: '=Job {{ $json.n }}', options });

/** The number of the item that a create is for. */
function itemOf({ body }: Pick<PlannedCall, 'body'>): number {
	const { job } = body as { job: { displayName: string } };
	return Number(job.displayName.replace('Job ', ''));
}

/** The creates of some items meet a fault, each of them whenever it is sent. */
function creates(faultFor: (item: number, call: PlannedCall) => ReturnType<Plan>): void {
	fixture.sandbox.faults.plan((call) =>
		call.operation === 'createJob' ? faultFor(itemOf(call), call) : undefined,
	);
}

const refused: Fault = {
	kind: 'answer',
	when: 'beforeActing',
	status: 400,
	body: { message: 'no' },
};
const brokenAfter: Fault = { kind: 'break', when: 'afterActing' };

/** The context of the error that ended a run. */
function contextOf({ error }: Result): Record<string, unknown> {
	return error !== undefined && 'context' in error ? error.context : {};
}

/** The uids of the jobs that an error lists. */
function createdIn(result: Result): string[] {
	const { createdJobs } = contextOf(result);
	if (!Array.isArray(createdJobs)) throw new Error('The error lists no jobs');
	return (createdJobs as Array<{ uid: string }>).map(({ uid }) => uid);
}

const jobsOnService = () => [...fixture.sandbox.store.jobs.keys()];

/** How often the create of each item was sent. */
function timesSent(): Map<number, number> {
	const times = new Map<number, number>();
	for (const call of fixture.callsOf('createJob')) {
		times.set(itemOf(call), (times.get(itemOf(call)) ?? 0) + 1);
	}
	return times;
}

/** A promise that is kept when the test says so. */
function gate(): { opened: Promise<void>; open: () => void } {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => (open = resolve));
	return { opened, open };
}

describe('The output', () => {
	test('is in the order of the items, whichever is answered first', async () => {
		const gates = Array.from({ length: 12 }, gate);
		creates((item) => ({
			kind: 'wait',
			when: 'afterActing',
			until: gates[item]?.opened ?? Promise.resolve(),
		}));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 12 }) }],
			numbered(12),
		);
		await until(() => fixture.sandbox.store.jobs.size === 12);

		const answered: number[] = [];
		for (const item of [11, 3, 7, 0, 10, 1, 9, 2, 8, 4, 6, 5]) {
			gates[item]?.open();
			await until(() =>
				fixture.callsOf('createJob').some((c) => c.status === 200 && itemOf(c) === item),
			);
			answered.push(item);
		}
		const { items } = await running.result;
		expect(answered[0]).toBe(11);
		expect(items.map(({ json, pairedItem }) => [json.displayName, pairedItem])).toEqual(
			numbered(12).map(({ n }) => [`Job ${String(n)}`, { item: n }]),
		);
	});

	test('of items that give several is in their order as well', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			const until = nOfOperation === 1 ? second.opened : Promise.resolve();
			return operation === 'listClusters'
				? { kind: 'wait', when: 'afterActing', until }
				: undefined;
		});
		const second = gate();
		const running = fixture.engine.start(
			[{ parameters: getAll({ limit: '={{ $json.n + 1 }}' }) }],
			numbered(3),
		);
		await until(() => fixture.callsOf('listClusters').filter((c) => c.status === 200).length === 2);
		second.open();
		const { items } = await running.result;
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 1, 2, 2, 2].map((item) => ({ item })),
		);
	});
});

describe('Concurrency', () => {
	test.each([1, 3, 10])('%i: so many requests are under way at once, and no more', async (most) => {
		let underWay = 0;
		let highest = 0;
		creates(() => {
			underWay += 1;
			highest = Math.max(highest, underWay);
			const answered = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
				underWay -= 1;
			});
			return { kind: 'wait', when: 'afterActing', until: answered };
		});
		await fixture.engine.run({ parameters: batch({ concurrency: most }) }, numbered(60));
		expect(fixture.sandbox.store.jobs.size).toBe(60);
		expect(highest).toBeLessThanOrEqual(most);
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(most);
	});

	test.each([3, 10])('%i is made use of', async (most) => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: most }) }],
			numbered(60),
		);
		await until(() => fixture.callsOf('createJob').length === most);
		all.open();
		expect((await running.result).items).toHaveLength(60);
	});

	test('is ten where nothing is said', async () => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(30));
		await until(() => fixture.callsOf('createJob').length === 10);
		all.open();
		await running.result;
		expect(fixture.sandbox.connections.peak).toBe(10);
	});

	test('that differs from item to item is that of the first', async () => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: '={{ $json.n + 2 }}' }) }],
			numbered(12),
		);
		await until(() => fixture.callsOf('createJob').length === 2);
		all.open();
		await running.result;
		// One may be left of the log-in.
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(3);
	});

	test.each([1_000_000, 10_000_000_000])('%i is more than there are items', async (concurrency) => {
		const { items, error } = await fixture.engine.run(
			{ parameters: batch({ concurrency }) },
			numbered(3),
		);
		expect(error?.message).toBeUndefined();
		expect(items).toHaveLength(3);
	});
});

describe('Where an error stops the workflow', () => {
	test('item 30 of 200 is refused: few more are sent, and the error lists every job', async () => {
		creates((item) => (item === 30 ? refused : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ concurrency: 8 }) },
			numbered(200),
		);
		expect(result.error?.message).toMatch(/^The service refused to create a job/);
		expect(contextOf(result)).toMatchObject({
			itemIndex: 30,
			httpStatus: 400,
			jobMayExist: false,
			uncertainItems: [],
		});
		expect(fixture.callsOf('createJob').length).toBeLessThanOrEqual(30 + 8);
		expect(createdIn(result).sort()).toEqual(jobsOnService().sort());
		expect(jobsOnService().length).toBeGreaterThanOrEqual(30 - 7);
		expect(result.error?.description).toMatch(/It was item 30\b/);
		expect(result.error?.description).not.toMatch(/may exist as well|and \S+ more/);
		for (const { uid, displayName } of fixture.sandbox.store.jobs.values()) {
			expect(result.error?.description).toContain(
				`: ${uid} ('${displayName}' in namespace 'default')`,
			);
		}
	});

	test('the requests under way are awaited, and their jobs are listed', async () => {
		const late = gate();
		creates((item) => {
			if (item === 2) return refused;
			return { kind: 'wait', when: 'beforeActing', until: late.opened };
		});
		const running = fixture.engine.start([{ parameters: batch({ concurrency: 4 }) }], numbered(20));
		await until(() => fixture.callsOf('createJob').some(({ status }) => status === 400));
		expect(jobsOnService()).toEqual([]);
		late.open();
		const result = await running.result;
		expect([...timesSent().keys()].sort()).toEqual([0, 1, 2, 3]);
		expect(createdIn(result)).toHaveLength(3);
		expect(createdIn(result).sort()).toEqual(jobsOnService().sort());
	});

	test('more than a hundred jobs: a hundred in the text, all of them in the context', async () => {
		creates((item) => (item === 150 ? refused : undefined));
		const result = await fixture.engine.run({ parameters: batch() }, numbered(160));
		const made = jobsOnService();
		expect(made.length).toBeGreaterThan(100);
		expect(createdIn(result).sort()).toEqual(made.sort());
		const { description } = result.error ?? {};
		expect(description?.match(/<br>- item \d+: /g)).toHaveLength(100);
		expect(description).toContain(`Jobs that this execution had created (${made.length}):`);
		expect(description).toContain(
			`- and ${made.length - 100} more, in the error's context.createdJobs`,
		);
	});

	test('a hundred jobs are all in the text, and no more are promised', async () => {
		creates((item) => (item === 100 ? refused : undefined));
		const { error } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }) },
			numbered(102),
		);
		expect(error?.description?.match(/<br>- item \d+: /g)).toHaveLength(100);
		expect(error?.description).not.toMatch(/and \S+ more/);
	});

	test('a job is listed with its item, its names and its namespace', async () => {
		creates((item) => (item === 1 ? refused : undefined));
		const result = await fixture.engine.run({ parameters: batch({ concurrency: 1 }) }, numbered(3));
		expect(contextOf(result).createdJobs).toEqual([
			{ itemIndex: 0, namespace: 'default', uid: jobsOnService()[0], displayName: 'Job 0' },
		]);
	});

	test('a job whose answer has an odd shape is listed nevertheless', async () => {
		const odd = { metadata: { uid: 'odd-1', namespace: { toString: 1 } }, displayName: { a: 1 } };
		creates((item) =>
			item === 0 ? { kind: 'answer', when: 'beforeActing', status: 200, body: odd } : refused,
		);
		const result = await fixture.engine.run({ parameters: batch({ concurrency: 1 }) }, numbered(2));
		expect(result.error?.message).toMatch(/^The service refused/);
		expect(contextOf(result).createdJobs).toEqual([
			{ itemIndex: 0, namespace: '{"toString":1}', uid: 'odd-1', displayName: '{"a":1}' },
		]);
	});

	test('a job whose answer has no name is listed nevertheless', async () => {
		const body = { metadata: { uid: 'nameless-1' } };
		creates((item) =>
			item === 0 ? { kind: 'answer', when: 'beforeActing', status: 200, body } : refused,
		);
		const result = await fixture.engine.run({ parameters: batch({ concurrency: 1 }) }, numbered(2));
		expect(contextOf(result).createdJobs).toEqual([
			{ itemIndex: 0, namespace: '', uid: 'nameless-1', displayName: '' },
		]);
	});

	test('the other items whose job may exist are named', async () => {
		const refusal = gate();
		// The refusal is the first error: the others are held back until it has been sent.
		fixture.sandbox.faults.plan((call) => {
			if (call.operation !== 'createJob') return undefined;
			if (itemOf(call) === 0) return refused;
			const wait: Fault = { kind: 'wait', when: 'beforeActing', until: refusal.opened };
			return itemOf(call) % 2 === 0 ? [wait, brokenAfter] : wait;
		});
		const running = fixture.engine.start([{ parameters: batch({ concurrency: 6 }) }], numbered(20));
		await until(() => fixture.callsOf('createJob').length === 6);
		await until(() => fixture.callsOf('createJob').some(({ status }) => status === 400));
		refusal.open();
		const result = await running.result;
		expect(contextOf(result)).toMatchObject({
			itemIndex: 0,
			jobMayExist: false,
			uncertainItems: [2, 4],
		});
		expect(result.error?.description).toContain(
			'The jobs of these items may exist as well, look for them too: 2, 4.',
		);
		expect(createdIn(result)).toHaveLength(3);
		expect(jobsOnService()).toHaveLength(5);
	});

	test('an item that waits to be sent again is not sent again, and is certain', async () => {
		const both = gate();
		fixture.sandbox.faults.plan((call) => {
			if (call.operation !== 'createJob') return undefined;
			if (itemOf(call) === 0) return { kind: 'rateLimit', retryAfter: 20 };
			return [{ kind: 'wait', when: 'beforeActing', until: both.opened }, refused];
		});
		const startedAt = Date.now();
		const running = fixture.engine.start([{ parameters: batch({ concurrency: 2 }) }], numbered(9));
		await until(() => fixture.callsOf('createJob').some(({ status }) => status === 429));
		both.open();
		const result = await running.result;
		expect(Date.now() - startedAt).toBeLessThan(10_000);
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, uncertainItems: [], createdJobs: [] });
		expect(timesSent()).toEqual(
			new Map([
				[0, 1],
				[1, 1],
			]),
		);
	});

	test('other operations list no jobs', async () => {
		const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'gone' }) });
		expect(contextOf(result)).toMatchObject({ itemIndex: 0, createdJobs: [] });
		expect(result.error?.description).not.toMatch(/created/);

		// A cluster has an ID where a job has its own.
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters' && nOfOperation === 2 ? refused : undefined,
		);
		const list = await fixture.engine.run(
			{ parameters: getAll({ options: { concurrency: 1 } }) },
			numbered(2),
		);
		expect(contextOf(list)).toMatchObject({ itemIndex: 1, createdJobs: [] });
	});
});

describe('Where the workflow continues', () => {
	const outcomes: Array<[number, Fault, IDataObject]> = [
		[3, refused, { httpStatus: 400, jobMayExist: false }],
		[5, brokenAfter, { httpStatus: null, jobMayExist: true }],
		[6, { kind: 'break', when: 'beforeActing' }, { httpStatus: null, jobMayExist: true }],
		[
			8,
			{ kind: 'answer', when: 'afterActing', status: 500 },
			{ httpStatus: 500, jobMayExist: true },
		],
		[11, { kind: 'rateLimit' }, { httpStatus: 429, jobMayExist: false }],
	];
	const failing = new Map(outcomes.map(([item, fault]) => [item, fault]));
	const detailsOf = new Map(
		outcomes.map(([item, , details]) => [
			item,
			{ itemIndex: item, description: expect.stringMatching(/\S/), ...details },
		]),
	);

	test('in the one output, every item is there once: its job, or its error', async () => {
		creates((item) => failing.get(item));
		const { items, error } = await fixture.engine.run(
			{ parameters: batch({ maxRetries: 0 }), onError: 'continueRegularOutput' },
			numbered(14),
		);
		expect(error).toBeUndefined();
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			numbered(14).map(({ n }) => ({ item: n })),
		);
		for (const [item, { json }] of items.entries()) {
			if (failing.has(item)) {
				expect(json).toEqual({
					error: expect.stringMatching(/\S/),
					message: detailsOf.get(item),
				});
			} else {
				expect(json.displayName).toBe(`Job ${item}`);
			}
		}
	});

	test('with the error output, every item is in one of the two', async () => {
		creates((item) => failing.get(item));
		const { branches, error } = await fixture.engine.run(
			{ parameters: batch({ maxRetries: 0 }), onError: 'continueErrorOutput' },
			numbered(14),
		);
		expect(error).toBeUndefined();
		expect(branches).toHaveLength(2);
		expect(branches[0]?.map(({ json }) => json.displayName)).toEqual(
			numbered(14).flatMap(({ n }) => (failing.has(Number(n)) ? [] : [`Job ${String(n)}`])),
		);
		expect(branches[1]?.map(({ json }) => json)).toEqual(
			outcomes.map(([item]) => ({
				n: item,
				error: expect.stringMatching(/\S/),
				message: detailsOf.get(item),
			})),
		);
	});

	test('all items fail, and all of them are there', async () => {
		creates(() => refused);
		const { branches } = await fixture.engine.run(
			{ parameters: batch(), onError: 'continueErrorOutput' },
			numbered(40),
		);
		expect(branches.map((branch) => branch.length)).toEqual([0, 40]);
	});

	test('state changes say per item what came of them', async () => {
		await fixture.engine.run({ parameters: batch() }, numbered(2));
		const ids = [jobsOnService()[0], 'gone', jobsOnService()[1]];
		const { branches } = await fixture.engine.run(
			{ parameters: change('stop', { jobId: '={{ $json.id }}' }), onError: 'continueErrorOutput' },
			ids.map((id) => ({ id })),
		);
		expect(branches[0]?.map(({ json }) => json.jobId)).toEqual([ids[0], ids[2]]);
		expect(branches[1]?.map(({ json }) => json.message)).toMatchObject([
			{ itemIndex: 1, httpStatus: 404, jobMayExist: false },
		]);
	});
});

describe('A cancel', () => {
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** What the node does in a run that is cancelled: n8n keeps neither its error nor its output. */
	function watchNode() {
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		/** n8n's side of the node, once it has begun. */
		const begun = async () => {
			await until(() => execute.mock.calls.length === 1);
			return (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		};
		/** What it says in n8n's log from now on. */
		const log = async () => {
			const warn = jest.spyOn((await begun()).logger, 'warn').mockImplementation();
			return () => warn.mock.calls.map(([text]) => text);
		};
		/** The error in which the node ends. */
		const end = async (): Promise<unknown> => {
			try {
				return await execute.mock.results[0]?.value;
			} catch (error) {
				return error;
			}
		};
		return { begun, log, end };
	}

	test('begins no request, and every item that was begun is accounted for', async () => {
		const held = gate();
		const { log, end } = watchNode();
		creates((item) =>
			item >= 6 ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
		);
		const running = fixture.engine.start([{ parameters: batch({ concurrency: 3 }) }], numbered(50));
		await until(() => fixture.callsOf('createJob').length === 9);
		const logged = await log();
		running.cancel();
		await running.result;
		const error = await end();
		held.open();
		await until(() => jobsOnService().length === 9);
		expect(fixture.callsOf('createJob')).toHaveLength(9);
		expect(error).toMatchObject({
			message: expect.stringMatching(/^The execution was cancelled; the job may exist/),
			context: { itemIndex: 6, jobMayExist: true, uncertainItems: [7, 8] },
		});
		expect(createdIn({ error } as Result)).toEqual(jobsOnService().slice(0, 6));

		// n8n drops the error of a cancelled node: its log has the list as well.
		expect(logged()).toEqual([
			expect.stringMatching(
				/^Execution \S+, node "Node 1" was cancelled\. .* Items whose job may exist: \[6,7,8\]$/,
			),
		]);
		for (const uid of jobsOnService().slice(0, 6)) {
			expect(logged()).toEqual([expect.stringContaining(`"uid":"${uid}"`)]);
		}
	});

	test('ends a wait at once', async () => {
		const { end } = watchNode();
		const timers = jest.spyOn(AbortSignal, 'timeout');
		creates(() => ({ kind: 'rateLimit', retryAfter: 25 }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3));
		// The request is answered before that: what is cut short is the wait.
		await until(() => timers.mock.calls.filter(([time]) => time === 25_000).length === 3);
		const cancelledAt = Date.now();
		running.cancel();
		await running.result;
		expect(await end()).toMatchObject({ context: { httpStatus: 429, uncertainItems: [] } });
		expect(Date.now() - cancelledAt).toBeLessThan(2_000);
		expect(fixture.callsOf('createJob')).toHaveLength(3);
	});

	test('says the same where the workflow would continue after an error', async () => {
		const held = gate();
		const { end } = watchNode();
		creates((item) =>
			item >= 2 ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
		);
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 2 }), onError: 'continueRegularOutput' }],
			numbered(20),
		);
		await until(() => fixture.callsOf('createJob').length === 4);
		running.cancel();
		await running.result;
		const error = await end();
		held.open();
		expect(error).toHaveProperty('message', 'The execution was cancelled');
		expect(error).toMatchObject({ context: { itemIndex: 4, uncertainItems: [2, 3] } });
		expect(createdIn({ error } as Result)).toEqual(jobsOnService().slice(0, 2));
	});

	test('that never comes is not spoken of, and waited for no longer than the node runs', async () => {
		const { log } = watchNode();
		const listeners = jest.spyOn(AbortSignal.prototype, 'addEventListener');
		creates((item) => (item === 2 ? refused : undefined));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3));
		const logged = await log();
		await running.result;
		expect(logged()).toEqual([]);
		for (const signal of listeners.mock.contexts) {
			expect(getEventListeners(signal, 'abort')).toEqual([]);
		}
	});

	test('during the log-in sends nothing afterwards', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? { kind: 'wait', when: 'afterActing', until: held.opened } : undefined,
		);
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(5));
		await until(() => fixture.sandbox.tokens.issued === 1);
		running.cancel();
		held.open();
		await running.result;
		await end();
		expect(fixture.callsOf('createJob')).toEqual([]);
	});

	test('between the pages of a list asks for no further page', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters' && nOfOperation === 2
				? { kind: 'wait', when: 'beforeActing', until: held.opened }
				: undefined,
		);
		const { log, end } = watchNode();
		const running = fixture.engine.start(
			[{ parameters: getAll({ returnAll: true, options: { pageSize: 1 } }) }],
			[{}],
		);
		await until(() => fixture.callsOf('listClusters').length === 2);
		const logged = await log();
		running.cancel();
		held.open();
		await running.result;
		await end();
		expect(logged()).toEqual([]);
		expect(fixture.callsOf('listClusters')).toHaveLength(2);
	});

	test('while the parameters are being read sends nothing', async () => {
		const { log, end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3_000));
		const logged = await log();
		running.cancel();
		await running.result;
		const error = await end();
		expect(error).toHaveProperty('message', 'The execution was cancelled');
		expect(error).toMatchObject({
			description: 'It was item 0 (the first is 0).',
			context: { itemIndex: 0, createdJobs: [], uncertainItems: [] },
		});
		expect(logged()).toEqual([
			expect.stringMatching(/Jobs created by then: \[\]\. Items whose job may exist: \[\]$/),
		]);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test('that comes before the first request sends none', async () => {
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(5));
		running.cancel();
		await running.result;
		await end();
		expect(fixture.sandbox.calls).toEqual([]);
	});
});

describe('The token', () => {
	/** A credential whose token is older than the newest one that is known, which has expired as well. */
	async function storeOldToken(): Promise<void> {
		await fixture.engine.run({ parameters: getAll() });
		const oldest = fixture.engine.storedToken;
		fixture.sandbox.tokens.expireAll();
		await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.tokens.expireAll();
		const credential = { ...credentialFor(fixture.sandbox), accessToken: oldest };
		fixture.engine.saveCredential(credential);
		fixture.sandbox.clearCalls();
	}

	test.each([0, 1, 3])(
		'is renewed where two have expired, and %i retries are allowed',
		async (maxRetries) => {
			await storeOldToken();
			const { error, items } = await fixture.engine.run(
				{ parameters: batch({ maxRetries }) },
				numbered(30),
			);
			expect(error?.message).toBeUndefined();
			expect(items).toHaveLength(30);
			expect(fixture.callsOf('login')).toHaveLength(1);
		},
	);

	test('that is the newest stays it, though a request that began with an older one ends later', async () => {
		const [first, third] = [gate(), gate()];
		const isAnswered = (item: number) =>
			fixture.callsOf('createJob').some((call) => itemOf(call) === item && call.status === 200);
		creates((item, { nOfOperation }) => {
			if (item === 0) return { kind: 'wait', when: 'afterActing', until: first.opened };
			if (item === 3) return { kind: 'wait', when: 'beforeActing', until: third.opened };
			return (item === 1 && nOfOperation === 2) || (item === 4 && !fourthBegan())
				? { kind: 'expireTokens' }
				: undefined;
		});
		let hasFourthBegun = false;
		const fourthBegan = () => {
			const before = hasFourthBegun;
			hasFourthBegun = true;
			return before;
		};
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 2 }), onError: 'continueRegularOutput' }],
			numbered(6),
		);
		await until(() => isAnswered(1) && isAnswered(2));
		first.open();
		await until(() => timesSent().has(5));
		third.open();
		const { items } = await running.result;
		expect(items.map(({ json }) => json.error)).toEqual(new Array(6).fill(undefined));
		expect(jobsOnService()).toHaveLength(6);
	});

	/**
	 * Runs six items, two at once, which all begin with the token that is stored; each sending of an item meets
	 * a fault of its own.
	 * @returns the items whose token was rejected
	 */
	async function rejectedItems(
		faultFor: (item: number, sending: { first: boolean; stored: boolean }) => ReturnType<Plan>,
	): Promise<number[]> {
		await fixture.engine.run({ parameters: getAll() });
		const { storedToken } = fixture.engine;
		creates((item, { token }) =>
			faultFor(item, { first: timesSent().get(item) === 1, stored: token === storedToken }),
		);
		const { items } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 2 }), onError: 'continueRegularOutput' },
			numbered(6),
		);
		expect(items.map(({ json }) => json.displayName)).toEqual(
			numbered(6).map(({ n }) => `Job ${String(n)}`),
		);
		const rejected = fixture.callsOf('createJob').filter(({ status }) => status === 401);
		return [...new Set(rejected.map(itemOf))].sort();
	}

	/** A job exists: its create has been acted on. */
	const exists = async (item: number) => {
		await until(() =>
			[...fixture.sandbox.store.jobs.values()].some(
				({ displayName }) => displayName === `Job ${item}`,
			),
		);
	};

	test('that is new goes with all that begin later, though others ended meanwhile with the old one', async () => {
		const rejected = await rejectedItems((item, { first }) => {
			// Item 2 begins, with the old token, when item 0 has ended.
			if (item === 1 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(2) }, { kind: 'expireTokens' }];
			}
			return item === 2 ? { kind: 'wait', when: 'afterActing', until: exists(3) } : undefined;
		});
		expect(rejected).toEqual([1]);
	});

	test('that is new is kept, though another that was new before comes later', async () => {
		const rejected = await rejectedItems((item, { first, stored }) => {
			// Item 0 gets a second token, and its answer when there is a third.
			if (item === 0 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(1) }, { kind: 'expireTokens' }];
			}
			if (item === 0 && !stored) return { kind: 'wait', when: 'afterActing', until: exists(3) };
			if (item === 2 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(0) }, { kind: 'expireTokens' }];
			}
			return item === 1 ? { kind: 'wait', when: 'afterActing', until: exists(0) } : undefined;
		});
		expect(rejected).toEqual([0, 2]);
	});

	test('may expire again and again: no item fails for it, and there is one log-in for each time', async () => {
		const sandbox = await startSandbox({ latency: 5 });
		try {
			fixture.engine.saveCredential(credentialFor(sandbox));
			sandbox.faults.plan(({ operation, nOfOperation }) =>
				operation === 'createJob' && nOfOperation % 60 === 0 ? { kind: 'expireTokens' } : undefined,
			);
			const { items } = await fixture.engine.run(
				{ parameters: batch({ concurrency: 20 }), onError: 'continueRegularOutput' },
				numbered(500),
			);
			expect(items.filter(({ json }) => 'error' in json).map(({ json }) => json.error)).toEqual([]);
			expect(sandbox.store.jobs.size).toBe(500);
			const creates = sandbox.calls.filter(({ operation }) => operation === 'createJob').length;
			expect(sandbox.tokens.issued).toBeLessThanOrEqual(1 + Math.floor(creates / 60));
		} finally {
			await sandbox.close();
		}
	});
});

describe("n8n's Retry On Fail", () => {
	const settings: Partial<INode> = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

	test('sends only the item that failed, and what was not begun', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 5 ? refused : undefined));
		const { items, error } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(10),
		);
		expect(error).toBeUndefined();
		expect(items.map(({ json }) => json.displayName)).toEqual(
			numbered(10).map(({ n }) => `Job ${String(n)}`),
		);
		expect(timesSent()).toEqual(new Map(numbered(10).map(({ n }) => [Number(n), n === 4 ? 2 : 1])));
		expect(jobsOnService()).toHaveLength(10);
	});

	test('makes no job twice, however many tries fail', async () => {
		creates((item) => (item === 7 ? refused : undefined));
		const result = await fixture.engine.run({ parameters: batch(), settings }, numbered(20));
		expect(result.error?.message).toMatch(/^The service refused/);
		expect(timesSent().get(7)).toBe(3);
		expect([...timesSent()].filter(([item, times]) => item !== 7 && times > 1)).toEqual([]);
		expect(createdIn(result).sort()).toEqual(jobsOnService().sort());
	});

	test('does not send an item again whose job may exist', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(5),
		);
		expect(result.error?.message).toMatch(/the job may exist nevertheless$/);
		expect(contextOf(result)).toMatchObject({ itemIndex: 2, jobMayExist: true });
		expect(timesSent()).toEqual(new Map([0, 1, 2].map((item) => [item, 1])));
		expect(jobsOnService()).toHaveLength(3);
	});

	test('says everything once, however many tries there were', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const { error } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(5),
		);
		expect(error?.description?.match(/It was item 2/g)).toHaveLength(1);
		expect(error?.description?.match(/Jobs that this execution had created/g)).toHaveLength(1);
	});

	test('does not take the pages that a stopped list had so far for the whole list', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation, query, nOfOperation }) => {
			if (operation !== 'listClusters') return undefined;
			if (query['ListOption.continue'] === 'wrong') {
				return nOfOperation < 4
					? refused
					: { kind: 'answer', when: 'beforeActing', status: 200, body: { items: [] } };
			}
			return nOfOperation < 4
				? { kind: 'wait', when: 'beforeActing', until: held.opened }
				: undefined;
		});
		const running = fixture.engine.start(
			[
				{
					parameters: getAll({
						returnAll: true,
						options: { pageSize: 2, continue: '={{ $json.from }}' },
					}),
					settings,
				},
			],
			[{ from: '' }, { from: 'wrong' }],
		);
		await until(() => fixture.callsOf('listClusters').some(({ status }) => status === 400));
		held.open();
		const { items, error } = await running.result;
		expect(error?.message).toBeUndefined();
		expect(items).toHaveLength(6);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'makes no job twice with %s',
		async (onError) => {
			creates((item) => {
				if (item === 0) return refused;
				return item === 1 ? brokenAfter : undefined;
			});
			const { items } = await fixture.engine.run(
				{ parameters: batch(), settings, onError },
				numbered(6),
			);
			expect(items).toHaveLength(6);
			expect(timesSent()).toEqual(
				new Map(numbered(6).map(({ n }) => [Number(n), n === 0 ? 3 : 1])),
			);
			expect(jobsOnService()).toHaveLength(5);
		},
	);

	test('of two nodes in a row does not mix them up', async () => {
		creates((_, { nOfOperation }) =>
			nOfOperation === 2 || nOfOperation === 5 ? refused : undefined,
		);
		const parameters = batch({ concurrency: 1 });
		const again = { ...parameters, displayName: '={{ $json.displayName }}' };
		const { result } = fixture.engine.start(
			[
				{ parameters, settings },
				{ parameters: again, settings },
			],
			numbered(3),
		);
		const { items, error } = await result;
		expect(error).toBeUndefined();
		expect(items).toHaveLength(3);
		expect(jobsOnService()).toHaveLength(6);
	});

	test('keeps nothing for the next execution', async () => {
		const node = { parameters: batch(), settings };
		await fixture.engine.run(node, numbered(2));
		await fixture.engine.run(node, numbered(2));
		expect(jobsOnService()).toHaveLength(4);
	});
});
