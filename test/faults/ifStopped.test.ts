import type { IExecuteFunctions, INode, INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../engine/answer';
import { numbered } from '../engine/fixture';
import { hurry } from '../engine/hurry';
import type { Limits } from '../engine/hurry';
import { jobEnds } from '../engine/operations';
import type { NodeOptions, Result } from '../engine/run';
import { until } from '../sandbox/client';
import { states as statesOf } from '../sandbox/states';
import { afterActing, beforeActing, ofVerb } from './faults';
import { batch, brokenAfter, contextOf, gate, itemOf, refused, useBatch } from './batch';

/*
 * All or nothing: what becomes of the jobs of an execution that is stopped half-way.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

const terminate = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch({ ifStopped: 'terminate', ...options }),
});

interface ListedJob {
	uid: string;
	ending?: { operation: string; success: boolean; message?: string };
}

const listedIn = (result: Result) => contextOf(result).createdJobs as ListedJob[];
const endingsIn = (result: Result) => listedIn(result).map(({ ending }) => ending);
const states = () => [...fixture.sandbox.store.jobs.values()].map(({ state }) => state);
const verbsSent = () =>
	fixture.callsOf('changeJobState').map(({ path }) => path.split('/').slice(-2).join(' '));

/** A fault of some creates, and one of the verb for some jobs, by the number of the item that made them. */
function faults(
	ofCreate: (item: number) => Fault | undefined,
	ofVerb: (item: number, nOfOperation: number) => Fault | undefined,
): void {
	fixture.sandbox.faults.plan((call) => {
		if (call.operation === 'createJob') return ofCreate(itemOf(call));
		if (call.operation !== 'changeJobState') return undefined;
		const uid = call.path.split('/').at(-2) ?? '';
		const { displayName = '' } = fixture.sandbox.store.jobs.get(uid) ?? {};
		return ofVerb(Number(displayName.replace('Job ', '')), call.nOfOperation);
	});
}

describe('If an error stops the node', () => {
	test.each(jobEnds)('the option %s ends all jobs, each of them named', async (ifStopped) => {
		const state = statesOf[ifStopped].to;
		creates((item) => (item === 12 ? refused : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ ifStopped, concurrency: 4 }) },
			numbered(20),
		);
		expect(contextOf(result)).toMatchObject({ itemIndex: 12, uncertainItems: [] });
		const made = jobsOnService();
		expect(made.length).toBeGreaterThanOrEqual(12 - 3);
		expect(states()).toEqual(made.map(() => state));
		expect(verbsSent().sort()).toEqual(made.map((uid) => `${uid} ${ifStopped}`).sort());
		expect(endingsIn(result)).toEqual(made.map(() => ({ operation: ifStopped, success: true })));
		expect(
			listedIn(result)
				.map(({ uid }) => uid)
				.sort(),
		).toEqual([...made].sort());
		const { description } = result.error ?? {};
		expect(description).toContain(
			`Jobs that this execution had created and has ${state} (${made.length}):`,
		);
		for (const uid of made) expect(description).toContain(`: ${uid} (`);
	});

	test.each([{}, { ifStopped: 'keep' }])('%j leaves them running', async (options) => {
		creates((item) => (item === 2 ? refused : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1, ...options }) },
			numbered(4),
		);
		expect(states()).toEqual(['running', 'running']);
		expect(endingsIn(result)).toEqual([undefined, undefined]);
		expect(verbsSent()).toEqual([]);
	});

	test('no more are ended at once than there may be requests', async () => {
		creates((item) => (item === 6 ? refused : undefined));
		await fixture.engine.run(terminate({ concurrency: 2 }), numbered(8));
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(2);
	});

	test('a job that is not ended at once is tried again, as any state change is', async () => {
		faults(
			(item) => (item === 2 ? refused : undefined),
			(_, n) => (n === 1 ? answer(503) : undefined),
		);
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(3));
		expect(states()).toEqual(['terminated', 'terminated']);
		expect(verbsSent()).toHaveLength(3);
		expect(endingsIn(result).map((ending) => ending?.success)).toEqual([true, true]);
	});

	test('a job that can not be ended is named, with the reason, before those that were', async () => {
		faults(
			(item) => (item === 3 ? refused : undefined),
			(item) => (item === 1 ? refused : undefined),
		);
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(5));
		expect(states()).toEqual(['terminated', 'running', 'terminated']);
		expect(endingsIn(result)).toEqual([
			{ operation: 'terminate', success: true },
			{
				operation: 'terminate',
				success: false,
				message: expect.stringMatching(/^The service refused to terminate the job/),
			},
			{ operation: 'terminate', success: true },
		]);
		const { description = '' } = result.error ?? {};
		expect(description).toMatch(
			/could not end \(1\):\n• item 1: [^\n]*: The service refused to terminate the job\n+Jobs [^\n]* has terminated \(2\):/,
		);
	});

	test('a job whose ID leads elsewhere is sent nothing, and named', async () => {
		creates((item) => (item === 0 ? answer(200, { metadata: { uid: '..' } }) : refused));
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(2));
		expect(verbsSent()).toEqual([]);
		expect(endingsIn(result)).toMatchObject([{ success: false, message: expect.any(String) }]);
	});

	test('a job of another namespace is ended there', async () => {
		creates((item) => (item === 1 ? refused : undefined));
		const { parameters } = terminate({ concurrency: 1 });
		const result = await fixture.engine.run(
			{ parameters: { ...parameters, namespace: 'team-a' } },
			numbered(2),
		);
		expect(endingsIn(result)).toEqual([{ operation: 'terminate', success: true }]);
		expect(fixture.callsOf('changeJobState')[0]?.path).toContain('/namespaces/team-a/');
	});

	test('the item whose job may exist is still named', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(4));
		expect(contextOf(result)).toMatchObject({ itemIndex: 2, jobMayExist: true });
		expect(states()).toEqual(['terminated', 'terminated', 'running']);
	});

	test('a choice that there is not is refused before anything is sent', async () => {
		const { error } = await fixture.engine.run(
			{ parameters: batch({ ifStopped: 'explode' }) },
			numbered(2),
		);
		expect(error?.message).toMatch(/^'If Stopped Half-Way' is "explode"/);
		expect(error?.description).toMatch(/keep, stop, terminate/);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test('nothing is ended where all has gone well', async () => {
		await fixture.engine.run(terminate(), numbered(3));
		expect(states()).toEqual(['running', 'running', 'running']);
	});
});

/** A fault in a few words. */
const inWords = (fault: Fault) => JSON.stringify(fault);

describe('Whatever goes wrong, no job runs on that the error does not name', () => {
	const options = { concurrency: 1, maxRetries: 0 };
	let limits: Limits;

	beforeEach(() => {
		limits = hurry();
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** The verb was sent for each of so many jobs, and those that run on are named as such, or may exist. */
	function expectNamed(result: Result, count: number): void {
		const { itemIndex, jobMayExist } = contextOf(result);
		expect(endingsIn(result).map((ending) => ending?.operation)).toEqual(
			new Array(count).fill('terminate'),
		);
		const ended = new Set(
			listedIn(result).flatMap(({ uid, ending }) => (ending?.success ? uid : [])),
		);
		for (const { uid, displayName, state } of fixture.sandbox.store.jobs.values()) {
			if (state !== 'running' || (jobMayExist && displayName === `Job ${String(itemIndex)}`))
				continue;
			expect([...ended]).not.toContain(uid);
			expect(listedIn(result)).toContainEqual(expect.objectContaining({ uid }));
		}
	}

	test.each(
		[...beforeActing, ...afterActing].map((fault): [string, Fault] => [inWords(fault), fault]),
	)('with a create: %s', async (_, fault) => {
		creates((item) => (item === 2 ? limits.orRunOut(fault) : undefined));
		const result = await fixture.engine.run(terminate(options), numbered(4));
		// A rejected token is no failure: the create is sent again with a new one, and again meets this.
		expect(result.error).toBeDefined();
		expectNamed(result, 2);
	});

	test.each(ofVerb.map((fault): [string, Fault] => [inWords(fault), fault]))(
		'with the verb: %s',
		async (_, fault) => {
			faults(
				(item) => (item === 3 ? refused : undefined),
				(item) => (item === 1 ? limits.orRunOut(fault) : undefined),
			);
			const result = await fixture.engine.run(terminate(options), numbered(4));
			expectNamed(result, 3);
		},
	);
});

describe('Where the workflow continues', () => {
	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'nothing is ended: %s',
		async (onError) => {
			creates((item) => (item === 2 ? refused : undefined));
			const { items } = await fixture.engine.run({ ...terminate(), onError }, numbered(5));
			expect(items).toHaveLength(5);
			expect(states()).toEqual(new Array(4).fill('running'));
			expect(verbsSent()).toEqual([]);
		},
	);
});

describe('A later run', () => {
	test("n8n's Retry makes again what was ended", async () => {
		creates((item) => (item === 2 ? refused : undefined));
		const node = terminate({ concurrency: 1 });
		const failed = await fixture.engine.run(node, numbered(4));
		fixture.sandbox.faults.clear();
		const result = await fixture.engine.retry(failed, [node]);
		expect(result.error).toBeUndefined();
		expect(result.items).toHaveLength(4);
		expect(states()).toEqual(['terminated', 'terminated', ...new Array(4).fill('running')]);
		expect(result.items.map(({ json }) => (json.metadata as { uid: string }).uid)).toEqual(
			jobsOnService().slice(2),
		);
	});

	test("n8n's Retry does not make again what could not be ended", async () => {
		faults(
			(item) => (item === 2 ? refused : undefined),
			(item) => (item === 1 ? refused : undefined),
		);
		const node = terminate({ concurrency: 1 });
		const failed = await fixture.engine.run(node, numbered(3));
		fixture.sandbox.faults.clear();
		const result = await fixture.engine.retry(failed, [node]);
		expect(result.items.map(({ json }) => json.displayName)).toEqual(['Job 0', 'Job 1', 'Job 2']);
		expect(timesSent()).toEqual(
			new Map([
				[0, 2],
				[1, 1],
				[2, 2],
			]),
		);
	});

	test('that is stopped as well ends the jobs of the earlier ones too', async () => {
		creates((item) => (item === 2 ? refused : undefined));
		const failed = await fixture.engine.run({ parameters: batch({ concurrency: 1 }) }, numbered(4));
		expect(states()).toEqual(['running', 'running']);
		const again = await fixture.engine.retry(failed, [terminate({ concurrency: 1 })]);
		expect(states()).toEqual(['terminated', 'terminated']);
		expect(endingsIn(again)).toEqual(new Array(2).fill({ operation: 'terminate', success: true }));
	});

	test('each try of Retry On Fail ends its jobs, and the next makes them anew', async () => {
		const settings: Partial<INode> = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		creates((item, { nOfOperation }) => (item === 2 && nOfOperation === 3 ? refused : undefined));
		const { items, error } = await fixture.engine.run(
			{ ...terminate({ concurrency: 1 }), settings },
			numbered(3),
		);
		expect(error).toBeUndefined();
		expect(items).toHaveLength(3);
		expect(states()).toEqual(['terminated', 'terminated', ...new Array(3).fill('running')]);
	});
});

describe('If a cancel stops the node', () => {
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** Whether so many creates that were turned away wait to be sent again: nothing is under way then. */
	function waiting(count: number): () => boolean {
		creates((item) => (item >= 5 ? { kind: 'rateLimit', retryAfter: 1 } : undefined));
		return () => fixture.callsOf('createJob').filter((c) => c.status === 429).length >= count;
	}

	/** Cancels a run once it has come so far. @returns the node's error, which n8n drops, and n8n's log */
	async function cancelled(node: NodeOptions, count: number, hasCome: () => boolean) {
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		const running = fixture.engine.start([node], numbered(count));
		await until(() => execute.mock.calls.length === 1);
		const context = (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		const warn = jest.spyOn(context.logger, 'warn').mockImplementation();
		await until(hasCome);
		running.cancel();
		await running.result;
		try {
			await execute.mock.results[0]?.value;
		} catch (error) {
			return { result: { error } as Result, log: warn.mock.calls.map(([text]) => text).join() };
		}
		throw new Error('The node has not failed');
	}

	test('the jobs are ended, and the log says of each which it was', async () => {
		const { result, log } = await cancelled(terminate({ concurrency: 3 }), 20, waiting(3));
		expect(states()).toEqual(new Array(5).fill('terminated'));
		expect(endingsIn(result)).toEqual(new Array(5).fill({ operation: 'terminate', success: true }));
		expect(contextOf(result)).toMatchObject({ jobMayExist: false, uncertainItems: [] });
		for (const uid of jobsOnService()) {
			expect(log).toContain(`"uid":"${uid}"`);
		}
		expect(log.match(/"ending":\{"operation":"terminate","success":true\}/g)).toHaveLength(5);
	});

	test('what was under way is ended or named', async () => {
		const held = gate();
		creates((item) =>
			item >= 4 ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
		);
		const { result } = await cancelled(terminate({ concurrency: 2 }), 20, () => {
			const come = fixture.callsOf('createJob').length === 6;
			if (come) setImmediate(held.open);
			return come;
		});
		await until(() => jobsOnService().length === 6);
		const { itemIndex, jobMayExist, uncertainItems } = contextOf(result);
		const uncertain = [jobMayExist === true ? itemIndex : [], uncertainItems].flat();
		for (const { displayName, state } of fixture.sandbox.store.jobs.values()) {
			const item = Number(displayName.replace('Job ', ''));
			expect(state === 'terminated' || uncertain.includes(item)).toBe(true);
		}
		expect(fixture.callsOf('createJob')).toHaveLength(6);
	});

	test('they are ended, too, where the workflow would continue after an error', async () => {
		const onError = 'continueRegularOutput';
		await cancelled({ ...terminate({ concurrency: 1 }), onError }, 9, waiting(1));
		expect(states()).toEqual(new Array(5).fill('terminated'));
	});
});
