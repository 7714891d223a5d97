import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { numbered } from '../support/fixture';
import type { NodeOptions, Result } from '../support/run';
import { until } from '../sandbox/client';
import { batch, brokenAfter, contextOf, gate, refused } from './batch';
import { endingsIn, listedIn, terminate, useEndedBatch } from './endedBatch';

/*
 * All or nothing, where n8n runs the node again, and where a cancel stops it.
 */

const { fixture, creates, jobsOnService, timesSent, states, faults } = useEndedBatch();

/** Retry On Fail. */
const tries = (maxTries: number, waitBetweenTries = 1): Partial<INode> => ({
	retryOnFail: true,
	maxTries,
	waitBetweenTries,
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
		const settings = tries(2);
		creates((item, { nOfOperation }) => (item === 2 && nOfOperation === 3 ? refused : undefined));
		const { items, error } = await fixture.engine.run(
			{ ...terminate({ concurrency: 1 }), settings },
			numbered(3),
		);
		expect(error).toBeUndefined();
		expect(items).toHaveLength(3);
		expect(states()).toEqual(['terminated', 'terminated', ...new Array(3).fill('running')]);
	});

	test('of Retry On Fail names the jobs of all tries in the last error', async () => {
		const settings = tries(3);
		creates((item) => (item === 1 ? refused : undefined));
		const result = await fixture.engine.run(
			{ ...terminate({ concurrency: 1 }), settings },
			numbered(2),
		);
		expect(jobsOnService()).toHaveLength(3);
		expect(listedIn(result).map(({ uid }) => uid)).toEqual(jobsOnService());
		expect(endingsIn(result)).toEqual(new Array(3).fill({ operation: 'terminate', success: true }));
	});

	test('makes no job only to end it, where the job of an item may exist', async () => {
		const settings = tries(3);
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const result = await fixture.engine.run(
			{ ...terminate({ concurrency: 1 }), settings },
			numbered(3),
		);
		expect(timesSent()).toEqual(
			new Map([
				[0, 1],
				[1, 1],
			]),
		);
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, jobMayExist: true });
		expect(endingsIn(result)).toEqual([{ operation: 'terminate', success: true }]);
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
		expect(log.match(/"cleanup":\{"operation":"terminate","success":true\}/g)).toHaveLength(5);
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

	test('the log says it once, though n8n begins each try of Retry On Fail', async () => {
		const settings = tries(3);
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		const node = { ...terminate({ concurrency: 3 }), settings };
		const { log } = await cancelled(node, 20, waiting(3));
		expect(log.match(/was cancelled/g)).toHaveLength(1);
		expect(execute.mock.calls.length).toBeGreaterThan(0);
	});

	test('the log names them where the cancel comes between two tries', async () => {
		const settings = tries(2, 1_000);
		creates((item) => (item === 2 ? refused : undefined));
		const node = { ...terminate({ concurrency: 1 }), settings };
		const { log } = await cancelled(node, 4, () => states().join() === 'terminated,terminated');
		expect(jobsOnService()).toHaveLength(2);
		for (const uid of jobsOnService()) expect(log).toContain(`"uid":"${uid}"`);
	});

	test('they are ended, too, where the workflow would continue after an error', async () => {
		const onError = 'continueRegularOutput';
		await cancelled({ ...terminate({ concurrency: 1 }), onError }, 9, waiting(1));
		expect(states()).toEqual(new Array(5).fill('terminated'));
	});
});
