import { ExecuteContext } from 'n8n-core';
import type { INode } from 'n8n-workflow';

import { actAndAnswer, answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { until } from '../sandbox/client';
import { batch, brokenAfter, gate, metadataOf, namesIn } from './batch';
import { refused, useBatch } from './batch';

/*
 * n8n's own setting to run a node again.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

const settings: Partial<INode> = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const node = { parameters: batch(), settings };
const oneByOne = { parameters: batch({ concurrency: 1 }), settings };
const onErrors = ['continueRegularOutput', 'continueErrorOutput'] as const;

/** How often items are sent of which all but one are sent once. */
const onceEachBut = (count: number, item: number, times: number) =>
	numbered(count).map(({ n }) => (n === item ? times : 1));

describe("n8n's Retry On Fail", () => {
	test('sends only the item that failed, and what was not begun', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 5 ? refused : undefined));
		const result = await fixture.engine.run(oneByOne, numbered(10));
		expect(result.error).toBeUndefined();
		expect(namesIn(result)).toEqual(numbered(10).map(({ n }) => `Job ${String(n)}`));
		expect(timesSent()).toEqual(onceEachBut(10, 4, 2));
		expect(jobsOnService()).toHaveLength(10);
		expect(metadataOf(result)).toEqual({});
	});

	test('makes no job twice whose fields n8n takes for a failure', async () => {
		const body = { metadata: { uid: 'job-1' }, error: 'none' };
		creates(() => actAndAnswer(200, body));
		const { items } = await fixture.engine.run(node, numbered(3));
		expect(items.map(({ json }) => json)).toEqual([body, body, body]);
		expect(timesSent()).toEqual([1, 1, 1]);
	});

	test.each(onErrors)('makes no job twice where n8n fails after the calls: %s', async (onError) => {
		creates((item) => (item === 0 ? refused : undefined));
		const hint = jest.spyOn(ExecuteContext.prototype, 'addExecutionHints');
		hint.mockImplementationOnce(() => {
			throw new Error('n8n failed');
		});
		const { branches } = await fixture.engine.run({ ...node, onError }, numbered(5));
		hint.mockRestore();
		expect(timesSent()).toEqual(onceEachBut(5, 0, 3));
		const names = branches.flat().flatMap(({ json }) => json.displayName ?? []);
		expect(names).toEqual(['Job 1', 'Job 2', 'Job 3', 'Job 4']);
	});

	test('keeps nothing for the next run of a loop', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const { result } = fixture.engine.start(
			[{ ...node, onError: 'continueRegularOutput', runs: 2 }],
			numbered(1),
		);
		const { runData } = (await result).run.data.resultData;
		expect(runData['Node 1']?.map(({ data }) => data?.main?.[0]?.[0]?.json)).toEqual([
			expect.objectContaining({ error: expect.anything() }),
			expect.objectContaining({ displayName: 'Job 0' }),
		]);
		expect(timesSent()).toEqual([2]);
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
		const options = { pageSize: 2, continue: '={{ $json.from }}' };
		const running = fixture.engine.start(
			[{ parameters: getAll({ returnAll: true, options }), settings }],
			[{ from: '' }, { from: 'wrong' }],
		);
		await until(() => fixture.callsOf('listClusters').some(({ status }) => status === 400));
		held.open();
		const { items, error } = await running.result;
		expect(error?.message).toBeUndefined();
		expect(items).toHaveLength(6);
	});

	test('of two nodes in a row does not mix them up', async () => {
		creates((_, { nOfOperation }) => ([2, 5].includes(nOfOperation) ? refused : undefined));
		const again = { ...oneByOne.parameters, displayName: '={{ $json.displayName }}' };
		const { result } = fixture.engine.start(
			[oneByOne, { parameters: again, settings }],
			numbered(3),
		);
		const { items, error } = await result;
		expect(error).toBeUndefined();
		expect(items).toHaveLength(3);
		expect(jobsOnService()).toHaveLength(6);
	});
});

describe("n8n's Retry On Fail of a tool", () => {
	const tool = {
		parameters: { ...batch(), displayName: "=Job {{ $fromAI('n', 'Number', 'number') }}" },
		settings,
	};

	test('does not send a create again whose job may exist; each call is another wish', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const { answers, run } = await fixture.engine.callTool(tool, [{ n: 7 }, { n: 7 }, { n: 1 }]);
		expect(answers).toEqual([
			expect.stringMatching(/^Error: .*the job may exist/),
			expect.stringContaining('"displayName":"Job 7"'),
			expect.stringContaining('"displayName":"Job 1"'),
		]);
		expect(jobsOnService()).toHaveLength(3);
		expect(JSON.stringify(run.data)).not.toContain('"jobOrchestration":');
	});

	test('sends again what certainly failed', async () => {
		creates((_, { nOfOperation }) => (nOfOperation < 3 ? refused : undefined));
		const { answers } = await fixture.engine.callTool(tool, [{ n: 0 }]);
		expect(answers).toEqual([expect.stringContaining('"displayName":"Job 0"')]);
		expect(timesSent()).toEqual([3]);
	});
});
