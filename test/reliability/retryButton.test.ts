import type { INodeParameters } from 'n8n-workflow';

import { change, credentialFor, numbered } from '../support/fixture';
import { stored } from '../support/run';
import type { NodeOptions, Result } from '../support/run';
import { until } from '../sandbox/client';
import { batch, brokenAfter, contextOf, createdIn, refused, useBatch } from './batch';

/*
 * n8n's Retry of a failed execution: it runs the node that failed again, with all of its items.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

const oneByOne = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch({ concurrency: 1, ...options }),
});
const titles = ({ items }: Result) => items.map(({ json }) => json.displayName);
const sentOnce = (count: number) => new Map(numbered(count).map(({ n }) => [Number(n), 1]));

/** A batch of four whose third item was refused: items 0 and 1 have their jobs. */
async function refusedAtThird(node: NodeOptions = oneByOne()): Promise<Result> {
	creates((item) => (item === 2 ? refused : undefined));
	const result = await fixture.engine.run(node, numbered(4));
	expect(result.error?.message).toMatch(/^The service refused/);
	expect(jobsOnService()).toHaveLength(2);
	fixture.sandbox.faults.clear();
	return result;
}

describe("n8n's Retry", () => {
	test('makes only what is missing, and gives the results of all in their order', async () => {
		const failed = await refusedAtThird();
		const result = await fixture.engine.retry(failed, [oneByOne()]);
		expect(result.error).toBeUndefined();
		expect(titles(result)).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
		expect(result.items.map(({ json }) => (json.metadata as { uid: string }).uid)).toEqual(
			jobsOnService(),
		);
		expect(result.items.map(({ pairedItem }) => pairedItem)).toEqual(
			numbered(4).map(({ n }) => ({ item: n })),
		);
		expect(timesSent()).toEqual(new Map([...sentOnce(4), [2, 2]]));
	});

	test('leaves nothing behind once the node has succeeded', async () => {
		const { run } = await fixture.engine.retry(await refusedAtThird(), [oneByOne()]);
		expect(run.data.resultData.runData['Node 1']?.[0]?.metadata ?? {}).toEqual({});
		expect(JSON.stringify(stored(run)).match(/"displayName":"Job 0"/g)).toHaveLength(1);
	});

	test('finds neither the password nor the token in what is left', async () => {
		const { run } = await refusedAtThird();
		const left = JSON.stringify(run.data.executionData?.nodeExecutionStack[0]?.metadata);
		expect(left).toContain('"displayName":"Job 0"');
		expect(left).not.toContain(fixture.engine.storedToken);
		expect(left).not.toContain(fixture.sandbox.password);
	});

	test('does not send an item again whose job may exist, and runs the rest', async () => {
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const failed = await fixture.engine.run(oneByOne(), numbered(4));
		fixture.sandbox.faults.clear();
		const result = await fixture.engine.retry(failed, [oneByOne()]);
		expect(result.error?.message).toMatch(/the job may exist$/);
		expect(result.error?.description).toMatch(/was not sent again/);
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, jobMayExist: true, httpStatus: null });
		expect(timesSent()).toEqual(sentOnce(4));
		expect(createdIn(result)).toHaveLength(3);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with Execute Once in between forgets no job: the error names it, and the next Retry makes none again', async () => {
		const othersMade = until(() => jobsOnService().length === 3);
		creates((item) =>
			item === 0 ? [{ kind: 'wait', when: 'beforeActing', until: othersMade }, refused] : undefined,
		);
		const node = { parameters: batch() };
		const failed = await fixture.engine.run(node, numbered(4));
		creates((item) => (item === 0 ? refused : undefined));
		const once = await fixture.engine.retry(failed, [{ ...node, settings: { executeOnce: true } }]);
		expect(once.error?.message).toMatch(/^The service refused/);
		expect(createdIn(once).sort()).toEqual(jobsOnService().sort());
		fixture.sandbox.faults.clear();
		expect(titles(await fixture.engine.retry(once, [node]))).toHaveLength(4);
		expect(timesSent()).toEqual(new Map([...sentOnce(4), [0, 3]]));
	});

	test('of a node that is set to continue by now gives each item its end', async () => {
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const failed = await fixture.engine.run(oneByOne(), numbered(4));
		fixture.sandbox.faults.clear();
		const { error, branches, run } = await fixture.engine.retry(failed, [
			{ ...oneByOne(), onError: 'continueErrorOutput' },
		]);
		expect(error).toBeUndefined();
		expect(branches.map((items) => items.map(({ pairedItem }) => pairedItem))).toEqual([
			[{ item: 0 }, { item: 2 }, { item: 3 }],
			[{ item: 1 }],
		]);
		expect(JSON.stringify(branches[1])).toMatch(/the job may exist/);
		expect(run.data.resultData.runData['Node 1']?.[0]?.metadata ?? {}).toEqual({});
		expect(timesSent()).toEqual(sentOnce(4));
	});

	test('may fail again, and be tried again: each time with what is still missing', async () => {
		const failed = await refusedAtThird();
		creates((item) => (item === 3 ? refused : undefined));
		const again = await fixture.engine.retry(failed, [oneByOne()]);
		expect(contextOf(again)).toMatchObject({ itemIndex: 3 });
		expect(createdIn(again)).toEqual(jobsOnService());
		fixture.sandbox.faults.clear();
		expect(titles(await fixture.engine.retry(again, [oneByOne()]))).toHaveLength(4);
		expect(timesSent()).toEqual(
			new Map([
				[0, 1],
				[1, 1],
				[2, 2],
				[3, 2],
			]),
		);
	});

	test('with fields that have been changed makes what is missing by the new ones', async () => {
		const failed = await refusedAtThird();
		const changed = { parameters: { ...batch(), displayName: '=New {{ $json.n }}' } };
		const result = await fixture.engine.retry(failed, [changed]);
		expect(titles(result)).toEqual(['Job 0', 'Job 1', 'New 2', 'New 3']);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with an expression that gives something else each time makes nothing twice', async () => {
		const node = {
			parameters: { ...batch({ concurrency: 1 }), group: '={{ $now.toMillis() + $execution.id }}' },
		};
		const result = await fixture.engine.retry(await refusedAtThird(node), [node]);
		expect(result.items).toHaveLength(4);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with a field that is wrong by now sends nothing, and forgets nothing', async () => {
		const failed = await refusedAtThird();
		const wrong = { parameters: { ...batch(), workflowUid: '={{ "" }}' } };
		const again = await fixture.engine.retry(failed, [wrong]);
		expect(again.error?.message).toBe(
			"No further job was created. 'Workflow UID' is empty for items 2 and 3.",
		);
		expect(contextOf(again)).toMatchObject({ itemIndex: 2 });
		expect(createdIn(again)).toEqual(jobsOnService());
		expect(titles(await fixture.engine.retry(again, [oneByOne()]))).toHaveLength(4);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with a credential that can not be used by now says so, and names the jobs of before', async () => {
		const failed = await refusedAtThird();
		const { baseUrl } = credentialFor(fixture.sandbox);
		fixture.engine.editCredential({ baseUrl: 'ftp://nowhere' });
		const again = await fixture.engine.retry(failed, [oneByOne()]);
		expect(again.error?.message).toMatch(/Base URL/);
		expect(createdIn(again)).toEqual(jobsOnService());
		fixture.engine.editCredential({ baseUrl });
		expect(titles(await fixture.engine.retry(again, [oneByOne()]))).toHaveLength(4);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with an operation that this version does not have forgets nothing', async () => {
		const failed = await refusedAtThird();
		const unknown = { parameters: { ...batch(), operation: 'archive' } };
		const again = await fixture.engine.retry(failed, [unknown]);
		expect(again.error?.message).toMatch(/has no operation "archive"/);
		expect(titles(await fixture.engine.retry(again, [oneByOne()]))).toHaveLength(4);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('with another operation begins anew', async () => {
		const failed = await refusedAtThird();
		const [uid = ''] = jobsOnService();
		const result = await fixture.engine.retry(failed, [
			{ parameters: change('stop', { jobId: uid }) },
		]);
		expect(result.error).toBeUndefined();
		expect(result.items).toHaveLength(4);
		expect(fixture.callsOf('changeJobState')).toHaveLength(4);
	});

	test('of a state change sends only those that had not succeeded', async () => {
		await fixture.engine.run(oneByOne(), numbered(2));
		const jobIds = jobsOnService();
		const stop = { parameters: change('stop', { jobId: '={{ $json.id }}' }) };
		const ids = [jobIds[0], 'gone', jobIds[1]].map((id) => ({ id }));
		const failed = await fixture.engine.run(
			{ parameters: { ...stop.parameters, options: { concurrency: 1 } } },
			ids,
		);
		expect(contextOf(failed)).toMatchObject({ itemIndex: 1 });
		fixture.sandbox.clearCalls();
		const again = await fixture.engine.retry(failed, [stop]);
		expect(contextOf(again)).toMatchObject({ itemIndex: 1 });
		expect(fixture.callsOf('changeJobState').map(({ path }) => path.split('/').at(-2))).toEqual([
			'gone',
			jobIds[1],
		]);
	});

	const noEarlierRun: unknown[] = [
		null,
		'job.create',
		{},
		{ operation: 'job.create', items: [{ output: [{}] }], endedJobs: [] },
		{ version: 0, operation: 'job.create', items: [{ output: [{}] }], endedJobs: [] },
	];

	test.each(noEarlierRun.map((left) => [JSON.stringify(left), left]))(
		'of what another version or node has stored starts over: %s',
		async (_, jobOrchestration) => {
			const failed = await refusedAtThird();
			for (const entry of failed.run.data.executionData?.nodeExecutionStack ?? []) {
				Object.assign(entry, { metadata: { jobOrchestration } });
			}
			const result = await fixture.engine.retry(failed, [oneByOne()]);
			expect(result.error).toBeUndefined();
			expect(titles(result)).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
			expect(jobsOnService()).toHaveLength(6);
		},
	);

	test('leaves what n8n has put into the metadata as it is', async () => {
		const failed = await refusedAtThird();
		for (const entry of failed.run.data.executionData?.nodeExecutionStack ?? []) {
			Object.assign(entry.metadata ?? {}, { subExecutionsCount: 2 });
		}
		const { run } = await fixture.engine.retry(failed, [oneByOne()]);
		expect(run.data.resultData.runData['Node 1']?.[0]?.metadata).toEqual({ subExecutionsCount: 2 });
		expect(jobsOnService()).toHaveLength(4);
	});

	test('gives a run of the whole workflow nothing: it makes all jobs', async () => {
		await refusedAtThird();
		await fixture.engine.run(oneByOne(), numbered(4));
		expect(jobsOnService()).toHaveLength(6);
	});
});
