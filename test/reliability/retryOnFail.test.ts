import { ExecuteContext } from 'n8n-core';
import type { INode } from 'n8n-workflow';

import { actAndAnswer, answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { until } from '../sandbox/client';
import { batch, brokenAfter, contextOf, createdIn, gate, refused, useBatch } from './batch';

/*
 * n8n's own setting to run a node again.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

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

	test('makes no job twice whose fields n8n takes for a failure', async () => {
		const body = { metadata: { uid: 'job-1' }, error: 'none' };
		creates(() => actAndAnswer(200, body));
		const { items } = await fixture.engine.run({ parameters: batch(), settings }, numbered(3));
		expect(items.map(({ json }) => json)).toEqual([body, body, body]);
		expect(timesSent()).toEqual(new Map(numbered(3).map(({ n }) => [Number(n), 1])));
	});

	test('does not send an item again whose job may exist, and runs the rest', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(5),
		);
		expect(result.error?.message).toMatch(/; the job may exist$/);
		expect(result.error?.description).toMatch(
			/It was sent in an earlier try, and was not sent again/,
		);
		expect(contextOf(result)).toMatchObject({
			itemIndex: 2,
			jobMayExist: true,
			uncertainItems: [],
		});
		expect(timesSent()).toEqual(new Map(numbered(5).map(({ n }) => [Number(n), 1])));
		expect(jobsOnService()).toHaveLength(5);
		expect(createdIn(result)).toHaveLength(4);
	});

	test('makes no second job of one that was made and answered with a redirect', async () => {
		creates(() => actAndAnswer(302, undefined, { location: '/jobs/1' }));
		const result = await fixture.engine.run({ parameters: batch(), settings }, numbered(2));
		expect(contextOf(result)).toMatchObject({ httpStatus: 302, jobMayExist: true });
		expect(jobsOnService()).toHaveLength(2);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'makes no job twice where n8n fails after the calls: %s',
		async (onError) => {
			creates((item) => (item === 0 ? refused : undefined));
			const hint = jest.spyOn(ExecuteContext.prototype, 'addExecutionHints');
			hint.mockImplementationOnce(() => {
				throw new Error('n8n failed');
			});
			const { branches } = await fixture.engine.run(
				{ parameters: batch(), settings, onError },
				numbered(5),
			);
			hint.mockRestore();
			expect(timesSent()).toEqual(new Map(numbered(5).map(({ n }) => [n, n === 0 ? 3 : 1])));
			const names = branches.flat().flatMap(({ json }) => json.displayName ?? []);
			expect(names).toEqual(['Job 1', 'Job 2', 'Job 3', 'Job 4']);
		},
	);

	test('says everything once, however many tries there were', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const { error } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(5),
		);
		expect(error?.description?.match(/This is about item 2/g)).toHaveLength(1);
		expect(error?.description?.match(/Jobs that this execution had created/g)).toHaveLength(1);
		expect(error?.description?.match(/was not sent again/g)).toHaveLength(1);
	});

	test('stores nothing of a try that failed with the result of one that succeeded', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 5 ? refused : undefined));
		const { error, run } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), settings },
			numbered(10),
		);
		expect(error).toBeUndefined();
		expect(run.data.resultData.runData['Node 1']?.[0]?.metadata ?? {}).toEqual({});
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'stores nothing of any try with %s',
		async (onError) => {
			creates((item) => (item === 0 ? refused : undefined));
			const { run } = await fixture.engine.run(
				{ parameters: batch(), settings, onError },
				numbered(3),
			);
			expect(timesSent().get(0)).toBe(3);
			expect(run.data.resultData.runData['Node 1']?.[0]?.metadata ?? {}).toEqual({});
		},
	);

	test('keeps nothing for the next run of a loop', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const { result } = fixture.engine.start(
			[{ parameters: batch(), settings, onError: 'continueRegularOutput', runs: 2 }],
			numbered(1),
		);
		const { runData } = (await result).run.data.resultData;
		expect(runData['Node 1']?.map(({ data }) => data?.main?.[0]?.[0]?.json)).toEqual([
			expect.objectContaining({ error: expect.anything() }),
			expect.objectContaining({ displayName: 'Job 0' }),
		]);
		expect(timesSent()).toEqual(new Map([[0, 2]]));
	});

	test('does not take the pages that a stopped list had so far for the whole list', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation, query, nOfOperation }) => {
			if (operation !== 'listClusters') return undefined;
			if (query['ListOption.continue'] === 'wrong') {
				return nOfOperation < 4 ? refused : answer(200, { items: [] });
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

describe("n8n's Retry On Fail of a tool", () => {
	const settings: Partial<INode> = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const tool = {
		parameters: { ...batch(), displayName: "=Job {{ $fromAI('n', 'Number', 'number') }}" },
		settings,
	};

	test('does not send a create again whose job may exist; the next call is another wish', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const { answers, run } = await fixture.engine.callTool(tool, [{ n: 7 }, { n: 7 }]);
		expect(answers).toEqual([
			expect.stringMatching(/^Error: .*the job may exist/),
			expect.stringContaining('"displayName":"Job 7"'),
		]);
		expect(timesSent()).toEqual(new Map([[7, 2]]));
		expect(JSON.stringify(run.data)).not.toContain('"jobOrchestration":');
	});

	test('sends again what certainly failed', async () => {
		creates((_, { nOfOperation }) => (nOfOperation < 3 ? refused : undefined));
		const { answers } = await fixture.engine.callTool(tool, [{ n: 1 }]);
		expect(answers).toEqual([expect.stringContaining('"displayName":"Job 1"')]);
		expect(timesSent()).toEqual(new Map([[1, 3]]));
	});

	test('makes a job for each call', async () => {
		const { answers } = await fixture.engine.callTool(tool, [{ n: 1 }, { n: 2 }, { n: 1 }]);
		expect(answers).toHaveLength(3);
		expect(jobsOnService()).toHaveLength(3);
	});
});
