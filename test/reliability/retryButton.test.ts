import type { INodeParameters } from 'n8n-workflow';

import { change, credentialFor, numbered } from '../support/fixture';
import { stored } from '../support/run';
import type { NodeOptions, Result } from '../support/run';
import { batch, brokenAfter, contextOf, createdIn, metadataOf, namesIn, refused } from './batch';
import { useBatch } from './batch';

/*
 * n8n's Retry of a failed execution: it runs the node that failed again, with all of its items.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

const oneByOne = (change: INodeParameters = {}): NodeOptions => ({
	parameters: { ...batch({ concurrency: 1 }), ...change },
});
const allNames = ['Job 0', 'Job 1', 'Job 2', 'Job 3'];

/** A batch of four whose third item was refused: items 0 and 1 have their jobs. */
async function refusedAtThird(node: NodeOptions = oneByOne()): Promise<Result> {
	creates((item) => (item === 2 ? refused : undefined));
	const result = await fixture.engine.run(node, numbered(4));
	expect(result.error?.message).toMatch(/^Job not created for item/);
	expect(jobsOnService()).toHaveLength(2);
	fixture.sandbox.faults.clear();
	return result;
}

/** A batch of four, of which item 1 has a job that was not answered. */
async function lostAtSecond(): Promise<Result> {
	creates((item) => (item === 1 ? brokenAfter : undefined));
	const failed = await fixture.engine.run(oneByOne(), numbered(4));
	fixture.sandbox.faults.clear();
	return failed;
}

describe("n8n's Retry", () => {
	test('makes only what is missing, gives the results of all in their order, and leaves nothing behind', async () => {
		const result = await fixture.engine.retry(await refusedAtThird(), [oneByOne()]);
		expect(result.error).toBeUndefined();
		expect(namesIn(result)).toEqual(allNames);
		expect(result.items.map(({ json }) => (json.metadata as { uid: string }).uid)).toEqual(
			jobsOnService(),
		);
		expect(result.items.map(({ pairedItem }) => pairedItem)).toEqual(
			numbered(4).map(({ n }) => ({ item: n })),
		);
		expect(timesSent()).toEqual([1, 1, 2, 1]);
		expect(metadataOf(result)).toEqual({});
		expect(JSON.stringify(stored(result.run)).match(/"displayName":"Job 0"/g)).toHaveLength(1);
	});

	test('finds neither the password nor the token in what is left', async () => {
		const { run } = await refusedAtThird();
		const text = JSON.stringify(stored(run).executionData?.nodeExecutionStack);
		expect(text).toContain('"displayName":"Job 0"');
		expect(text).not.toContain(fixture.engine.storedToken);
		expect(text).not.toContain(fixture.sandbox.password);
	});

	test('of a node that is now set to continue gives each item its end', async () => {
		const result = await fixture.engine.retry(await lostAtSecond(), [
			{ ...oneByOne(), onError: 'continueErrorOutput' },
		]);
		expect(result.error).toBeUndefined();
		expect(result.branches.map((items) => items.map(({ pairedItem }) => pairedItem))).toEqual([
			[{ item: 0 }, { item: 2 }, { item: 3 }],
			[{ item: 1 }],
		]);
		expect(JSON.stringify(result.branches[1])).toMatch(/the job may exist/);
		expect(metadataOf(result)).toEqual({});
		expect(timesSent()).toEqual([1, 1, 1, 1]);
	});

	test.each([
		[{ displayName: '=New {{ $json.n }}' }, ['Job 0', 'Job 1', 'New 2', 'New 3']],
		// It gives something else each time.
		[{ group: '={{ $now.toMillis() + $execution.id }}' }, allNames],
	])(
		'with the changed fields %j makes what is missing by them, and nothing twice',
		async (fields, names) => {
			const result = await fixture.engine.retry(await refusedAtThird(), [oneByOne(fields)]);
			expect(namesIn(result)).toEqual(names);
			expect(jobsOnService()).toHaveLength(4);
		},
	);

	test.each([
		[
			'a field that is wrong',
			{ workflowUid: '={{ "" }}' },
			/^Nothing more was sent\. 'Workflow UID'/,
		],
		['an operation that this version does not have', { operation: 'archive' }, /"archive"/],
		['a credential that can not be used', {}, /Base URL/],
	])('with %s sends nothing, and forgets nothing', async (what, fields, message) => {
		const failed = await refusedAtThird();
		const { baseUrl } = credentialFor(fixture.sandbox);
		const isCredential = what.startsWith('a credential');
		if (isCredential) fixture.engine.editCredential({ baseUrl: 'ftp://nowhere' });
		const again = await fixture.engine.retry(failed, [oneByOne(fields)]);
		expect(again.error?.message).toMatch(message);
		if (!('operation' in fields)) expect(createdIn(again)).toEqual(jobsOnService());
		fixture.engine.editCredential({ baseUrl });
		expect(namesIn(await fixture.engine.retry(again, [oneByOne()]))).toEqual(allNames);
		expect(timesSent()).toEqual([1, 1, 2, 1]);
	});

	test('with another operation starts from the beginning', async () => {
		const failed = await refusedAtThird();
		const [uid = ''] = jobsOnService();
		const stop = { parameters: change('stop', { jobId: uid }) };
		expect((await fixture.engine.retry(failed, [stop])).items).toHaveLength(4);
		expect(fixture.callsOf('changeJobState')).toHaveLength(4);
	});

	test('of a state change sends only those that had not succeeded', async () => {
		await fixture.engine.run(oneByOne(), numbered(2));
		const jobIds = jobsOnService();
		const parameters = change('stop', { jobId: '={{ $json.id }}', options: { concurrency: 1 } });
		const ids = [jobIds[0], 'gone', jobIds[1]].map((id) => ({ id }));
		const failed = await fixture.engine.run({ parameters }, ids);
		expect(contextOf(failed)).toMatchObject({ itemIndex: 1 });
		fixture.sandbox.clearCalls();
		const again = await fixture.engine.retry(failed, [
			{ parameters: { ...parameters, options: {} } },
		]);
		expect(contextOf(again)).toMatchObject({ itemIndex: 1 });
		const sent = fixture.callsOf('changeJobState').map(({ path }) => path.split('/').at(-2));
		expect(sent).toEqual(['gone', jobIds[1]]);
	});

	test('starts from the beginning where another version of the node has stored something', async () => {
		const failed = await refusedAtThird();
		const outcomes = [{ output: [{}] }];
		const jobOrchestration = { madeBy: 'version 3, job.create', outcomes, endedJobs: [] };
		for (const entry of failed.run.data.executionData?.nodeExecutionStack ?? []) {
			Object.assign(entry, { jobOrchestration });
		}
		const result = await fixture.engine.retry(failed, [oneByOne()]);
		expect(namesIn(result)).toEqual(allNames);
		expect(jobsOnService()).toHaveLength(6);
	});
});

describe('Create Again If Uncertain', () => {
	const again = (value: unknown = true): NodeOptions => ({
		parameters: batch({ concurrency: 1, createUncertainAgain: value as boolean }),
	});

	test('creates what an earlier execution left uncertain', async () => {
		const failed = await lostAtSecond();
		expect(failed.error?.description).toContain("'Create Again If Uncertain'");
		const result = await fixture.engine.retry(failed, [again()]);
		expect(namesIn(result)).toEqual(allNames);
		expect(timesSent()).toEqual([1, 2, 1, 1]);
	});

	test('does so for the items that its expression names', async () => {
		creates((item) => (item < 3 ? brokenAfter : undefined));
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const failed = await fixture.engine.run({ ...oneByOne(), settings }, numbered(4));
		fixture.sandbox.faults.clear();
		const result = await fixture.engine.retry(failed, [again('={{ $itemIndex === 2 }}')]);
		expect(contextOf(result)).toMatchObject({
			itemIndex: 0,
			uncertainItems: [{ itemIndex: 0 }, { itemIndex: 1 }],
		});
		expect(timesSent()).toEqual([1, 1, 2, 1]);
	});

	test.each(['a first execution', 'a Retry'])('never acts in the tries of %s', async (what) => {
		const node = { ...again(), settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 } };
		creates((item) => (item === 1 ? brokenAfter : undefined));
		let result = await fixture.engine.run(node, numbered(2));
		if (what === 'a Retry') result = await fixture.engine.retry(result, [node]);
		expect(timesSent()).toEqual([1, what === 'a Retry' ? 2 : 1]);
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, jobMayExist: true });
	});

	test('leaves an item uncertain that was not sent again', async () => {
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const failed = await fixture.engine.run(oneByOne(), numbered(2));
		creates(() => refused);
		const first = {
			parameters: { ...again().parameters, displayName: '={{ $json.n ? "" : "x" }}' },
		};
		const stopped = await fixture.engine.retry(failed, [first]);
		expect(contextOf(stopped)).toMatchObject({ uncertainItems: [{ itemIndex: 1 }] });
	});
});
