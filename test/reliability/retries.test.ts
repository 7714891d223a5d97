import { ExecuteContext } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';

import { actAndAnswer, answer } from '../support/answer';
import { change, CLUSTER, clusterById, credentialFor } from '../support/fixture';
import { getAll, numbered } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { type NodeOptions, type Result, stored } from '../support/run';
import { HOUR_MS } from '../support/clock';
import { until } from '../sandbox/client';
import { batch, brokenAfter, contextOf, createdIn, gate } from './batch';
import { namesIn, oneByOne, refused, refusedAt, tries, uncertainIn, useBatch } from './batch';

/*
 * Retry On Fail and n8n's Retry run the node again with all items, but create no job twice: only the items that
 * certainly have no job are sent.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();
// After creates without a response, the node waits before it sends others.
let limits: Limits;
beforeEach(() => {
	limits = hurry();
});

const settings = tries();
const once = oneByOne();
const changed = (fields: INodeParameters) => oneByOne({}, fields);
const tried = { ...once, settings };
const node = { parameters: batch(), settings };
const allNames = ['Job 0', 'Job 1', 'Job 2', 'Job 3'];

describe("n8n's Retry On Fail", () => {
	test('sends only the item that failed, and those that were not sent', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 2 ? refused : undefined));
		const result = await fixture.engine.run(tried, numbered(4));
		expect(result.error).toBeUndefined();
		expect(namesIn(result)).toEqual(allNames);
		expect(timesSent()).toEqual([1, 2, 1, 1]);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('creates no job twice if n8n mistakes a field of the job for a failure', async () => {
		const body = { metadata: { uid: 'job-1' }, error: 'none' };
		creates(() => actAndAnswer(200, body));
		const { items } = await fixture.engine.run(node, numbered(3));
		expect(items.map(({ json }) => json)).toEqual([body, body, body]);
		expect(timesSent()).toEqual([1, 1, 1]);
	});

	test('creates no job twice, and loses none, if n8n fails after the calls', async () => {
		creates(refusedAt(0));
		jest.spyOn(ExecuteContext.prototype, 'addExecutionHints').mockImplementation(() => {
			throw new Error('n8n failed');
		});
		const onError = 'continueErrorOutput';
		const { branches } = await fixture.engine.run({ ...node, onError }, numbered(4));
		expect(timesSent()).toEqual([3, 1, 1, 1]);
		const names = branches.flat().flatMap(({ json }) => json.displayName ?? []);
		expect(names).toEqual(['Job 1', 'Job 2', 'Job 3']);
	});

	test.each([
		[1, [1, 1, 1]],
		[0, [3, 1, 1]],
	])(
		'only tries again if the first item failed, with On Error set to continue: item %i',
		async (failing, times) => {
			creates(refusedAt(failing));
			for (const onError of ['continueRegularOutput', 'continueErrorOutput'] as const) {
				fixture.sandbox.clearCalls();
				const { items, error } = await fixture.engine.run({ ...node, onError }, numbered(3));
				expect([items.length, error]).toEqual([3, undefined]);
				expect(timesSent()).toEqual(times);
			}
		},
	);

	test('keeps nothing for the next run of a loop', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const looped = { ...node, onError: 'continueRegularOutput', runs: 2 } as const;
		const { run } = await fixture.engine.start([looped], numbered(1)).result;
		const rounds = run.data.resultData.runData['Node 1'] ?? [];
		const said = rounds.map(({ data }) => data?.main?.[0]?.[0]?.json);
		expect(said).toMatchObject([{ error: { jobMayExist: true } }, { displayName: 'Job 0' }]);
		expect(timesSent()).toEqual([2]);
	});

	test('does not mistake the pages of an interrupted list for the whole list', async () => {
		const held = gate();
		fixture.meets('listClusters', ({ query, nOfOperation }) => {
			const isWrong = query['ListOption.continue'] === 'wrong';
			if (nOfOperation < 4) return isWrong ? refused : held.fault;
			return isWrong ? answer(200, { items: [] }) : undefined;
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
});

describe("n8n's Retry On Fail of a tool", () => {
	const tool = {
		parameters: { ...batch(), displayName: "=Job {{ $fromAI('n', 'Number', 'number') }}" },
		settings,
	};

	test.each([
		['an agent', '1'],
		['an MCP client, which has no execution', undefined],
	])(
		'does not send a create again whose job may exist, but treats each call of %s as a new request',
		async (_, id) => {
			fixture.engine.executionId = id;
			creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
			const { answers, run } = await fixture.engine.callTool(tool, [{ n: 7 }, { n: 7 }, { n: 1 }]);
			expect(answers).toEqual([
				expect.stringMatching(/^Error: .*the job may exist/),
				expect.stringContaining('"displayName":"Job 7"'),
				expect.stringContaining('"displayName":"Job 1"'),
			]);
			expect(jobsOnService()).toHaveLength(3);
			expect(JSON.stringify(run.data)).not.toContain('"jobOrchestration":');
		},
	);

	test('sends a create again that certainly failed', async () => {
		creates((_, { nOfOperation }) => (nOfOperation < 3 ? refused : undefined));
		const { answers } = await fixture.engine.callTool(tool, [{ n: 0 }]);
		expect(answers).toEqual([expect.stringContaining('"displayName":"Job 0"')]);
		expect(timesSent()).toEqual([3]);
	});
});

/** Runs a batch of four items of which the third is refused: items 0 and 1 have their jobs. */
async function refusedAtThird(fields: INodeParameters = {}): Promise<Result> {
	creates(refusedAt(2));
	const result = await fixture.engine.run(changed(fields), numbered(4));
	expect(result.error?.message).toMatch(/^\d of \d jobs were created; item \d failed: /);
	expect(jobsOnService()).toHaveLength(2);
	fixture.sandbox.faults.clear();
	return result;
}

describe("n8n's Retry", () => {
	test('creates only the missing jobs, returns all results in order, and leaves no data behind', async () => {
		const result = await fixture.engine.retry(await refusedAtThird(), [once]);
		expect(result.error).toBeUndefined();
		const made = jobsOnService().map((uid, item) => {
			return { json: { metadata: { uid }, displayName: `Job ${item}` }, pairedItem: { item } };
		});
		expect(result.items).toMatchObject(made);
		expect(timesSent()).toEqual([1, 1, 2, 1]);
		expect(JSON.stringify(stored(result.run)).match(/Job 0/g)).toHaveLength(1);
	});

	test.each([
		[{ displayName: '=New {{ $json.n }}' }, ['Job 0', 'Job 1', 'New 2', 'New 3']],
		// The value of this expression changes each time.
		[{ group: '={{ $now.toMillis() + $execution.id }}' }, allNames],
	])(
		'with the changed fields %j uses them for the missing jobs, and creates no job twice',
		async (fields, names) => {
			const result = await fixture.engine.retry(await refusedAtThird(), [changed(fields)]);
			expect(namesIn(result)).toEqual(names);
			expect(jobsOnService()).toHaveLength(4);
		},
	);

	test.each<[INodeParameters, baseUrl: string, says: RegExp, jobs: number]>([
		[{ workflowUid: '={{ "" }}' }, '', /^Nothing more was sent\. 'Workflow UID'/, 2],
		[{ operation: 'archive' }, '', /"archive"/, 0],
		[{}, 'ftp://nowhere', /Base URL/, 2],
	])(
		'with %j and the Base URL "%s" sends nothing and forgets nothing',
		async (fields, url, says, jobs) => {
			const failed = await refusedAtThird();
			const { baseUrl } = credentialFor(fixture.sandbox);
			fixture.engine.editCredential({ baseUrl: url || baseUrl });
			const again = await fixture.engine.retry(failed, [changed(fields)]);
			expect(again.error?.message).toMatch(says);
			expect(createdIn(again)).toEqual(jobsOnService().slice(0, jobs));
			fixture.engine.editCredential({ baseUrl });
			expect(namesIn(await fixture.engine.retry(again, [once]))).toEqual(allNames);
			expect(timesSent()).toEqual([1, 1, 2, 1]);
		},
	);

	test.each([
		['was wrong', '={{ $json.none }}', 0],
		['has stopped some jobs', '={{ $json.n === 2 ? "gone" : $json.job }}', 3],
	])(
		'with another operation runs it from the beginning, and with the operation changed back keeps what was created, if the other one %s',
		async (_, jobId, calls) => {
			const failed = await refusedAtThird();
			const [job = ''] = jobsOnService();
			const parameters = change('stop', { jobId: jobId.replace('$json.job', `'${job}'`) });
			const changed = await fixture.engine.retry(failed, [{ parameters }]);
			expect(changed.error).toBeDefined();
			expect(fixture.callsOf('changeJobState').length).toBeGreaterThanOrEqual(calls);
			expect(namesIn(await fixture.engine.retry(changed, [once]))).toEqual(allNames);
			expect(timesSent()).toEqual([1, 1, 2, 1]);
		},
	);

	test('of state changes sends only those that have not succeeded', async () => {
		await fixture.engine.run(once, numbered(2));
		const jobIds = jobsOnService();
		const parameters = change('stop', { jobId: '={{ $json.id }}', options: { concurrency: 1 } });
		const ids = [jobIds[0], 'gone', jobIds[1]].map((id) => ({ id }));
		const failed = await fixture.engine.run({ parameters }, ids);
		expect(contextOf(failed)).toMatchObject({ itemIndex: 1 });
		fixture.sandbox.clearCalls();
		const atOnce = { parameters: { ...parameters, options: {} } };
		const again = await fixture.engine.retry(failed, [atOnce]);
		expect(contextOf(again)).toMatchObject({ itemIndex: 1 });
		const stopped = fixture.callsOf('changeJobState').map(({ path }) => path.split('/').at(-2));
		expect(stopped).toEqual(['gone', jobIds[1]]);
	});
});

describe("n8n's Retry, pressed again on the same execution,", () => {
	let last = 40;

	/** Runs something as a new execution, and returns its ID and its result. */
	async function asExecution(run: () => Promise<Result>): Promise<[id: string, Result]> {
		const id = String((last += 1));
		fixture.engine.executionId = id;
		return [id, await run()];
	}
	const retried = async (result: Result, again: NodeOptions = once) =>
		await asExecution(async () => await fixture.engine.retry(result, [again]));

	/** Runs six creates, of which that of item 2 fails, and then a Retry, in which that of item 4 fails. */
	async function failedTwice() {
		creates(refusedAt(2));
		const first = await asExecution(async () => await fixture.engine.run(once, numbered(6)));
		creates(refusedAt(4));
		const second = await retried(first[1]);
		expect(timesSent()).toEqual([1, 1, 2, 1, 1]);
		creates(() => undefined);
		return { first, second };
	}

	test('sends nothing after a Retry that has created jobs, and names the execution to retry', async () => {
		const { first, second } = await failedTwice();
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const [, { error, items }] = await retried(first[1], { ...once, onError });
			const message = `Execution ${first[0]} was already retried as execution ${second[0]}, which has created jobs. Use Retry of execution ${second[0]}.`;
			if (onError === 'stopWorkflow') {
				expect(error).toMatchObject({ message });
			} else {
				// What the first execution has done keeps its result. The first Retry may have created the other jobs.
				expect(namesIn({ items: items.slice(0, 2) } as Result)).toEqual(['Job 0', 'Job 1']);
				const unknown = { json: { message, error: { jobMayExist: true } } };
				expect(items.slice(2)).toMatchObject(new Array(4).fill(unknown));
			}
		}
		expect(timesSent()).toEqual([1, 1, 2, 1, 1]);

		const [, completed] = await retried(second[1]);
		expect(completed.error).toBeUndefined();
		expect(namesIn(completed)).toHaveLength(6);
		expect(jobsOnService()).toHaveLength(6);
		// Retry of that Retry has also been used now.
		const [, { error }] = await retried(second[1]);
		expect(error?.message).toMatch(new RegExp(`^Execution ${second[0]} was already retried as `));
	});

	test('is refused while the first Retry runs', async () => {
		creates(refusedAt(2));
		const [, failed] = await asExecution(async () => await fixture.engine.run(once, numbered(4)));
		const held = gate();
		creates(() => held.fault);
		const running = retried(failed);
		await until(() => fixture.callsOf('createJob').length === 4);
		limits.advance(HOUR_MS);
		const [, { error }] = await retried(failed);
		expect(error?.message).toMatch(/which is still running\. Use Retry of execution \d+\.$/);
		expect(error?.description).toMatch(/^Nothing was sent\. Look at what execution \d+ has done\./);
		held.open();
		expect((await running)[1].error).toBeUndefined();
		expect(jobsOnService()).toHaveLength(4);
	});

	test.each([{}, { operation: 'archive' }])(
		'is refused only after a Retry that has done something, whatever had failed: %j',
		async (fields) => {
			creates(refusedAt(0));
			const first = async () => await fixture.engine.run(changed(fields), numbered(2));
			const [, failed] = await asExecution(first);
			await retried(failed);
			creates(() => undefined);
			expect((await retried(failed))[1].error).toBeUndefined();
			expect((await retried(failed))[1].error?.message).toMatch(
				/^Execution \d+ was already retried/,
			);
			expect(jobsOnService()).toHaveLength(2);
		},
	);

	test('sends nothing after a Retry in which the node had nothing to do, but later rounds created jobs', async () => {
		const twice = { ...once, runs: 2 };
		creates((_, { nOfOperation }) => (nOfOperation === 1 ? brokenAfter : undefined));
		const [, failed] = await asExecution(
			async () => await fixture.engine.start([twice], numbered(1)).result,
		);
		const goOn = { ...twice, onError: 'continueErrorOutput' } as const;
		await retried(failed, goOn);
		expect(jobsOnService()).toHaveLength(2);
		await retried(failed, twice);
		expect(jobsOnService()).toHaveLength(2);
	});

	test('is not refused after an hour, as docs/retries.md says', async () => {
		const { first } = await failedTwice();
		limits.advance(HOUR_MS);
		expect((await retried(first[1]))[1].error).toBeUndefined();
	});
});

describe('The error of a batch says how to correct a wrong value for Retry', () => {
	test('by a correction that leads to the missing job', async () => {
		const items = numbered(4).map(({ n }) => ({ n, cluster: n === 2 ? 'c9' : CLUSTER }));
		const node = changed({ workCluster: clusterById('={{ $json.cluster }}') });
		const { error, ...failed } = await fixture.engine.run(node, items);
		const shown = "{{ $json.cluster === 'c9' ? '...' : $json.cluster }}";
		expect(error?.description).toContain(`replace {{ $json.cluster }} by ${shown},`);
		expect(error?.description).toContain('Take this back afterwards');
		const workCluster = clusterById(`=${shown.replace('...', CLUSTER)}`);
		const again = await fixture.engine.retry({ error, ...failed }, [changed({ workCluster })]);
		expect(namesIn(again)).toEqual(allNames);
		expect(jobsOnService()).toHaveLength(4);
	});

	test('in parentheses, if the value is a part of a text', async () => {
		const wrong = answer(422, { message: "The group it's is unknown" });
		creates((_, { nOfOperation }) => (nOfOperation === 2 ? wrong : undefined));
		const group = '=of {{ $json.team.replace("x", "y") }}';
		const items = [{ team: 'data' }, { team: "it's" }];
		const { error } = await fixture.engine.run(changed({ group }), items);
		expect(error?.description).toContain(
			`replace {{ $json.team.replace("x", "y") }} by {{ ($json.team.replace("x", "y")) === 'it\\'s' ? '...' : ($json.team.replace("x", "y")) }},`,
		);
	});

	test('also if the value is not in the title', async () => {
		const wrong = answer(422, { message: 'Invalid job', group: 'blue' });
		creates((_, { nOfOperation }) => (nOfOperation === 2 ? wrong : undefined));
		const items = [{ team: 'red' }, { team: 'blue' }];
		const { error } = await fixture.engine.run(changed({ group: '={{ $json.team }}' }), items);
		expect(error?.description).toContain("{{ $json.team === 'blue' ? '...' : $json.team }}");
	});

	test.each(['', '={{ "service" }}', '={{ "x".repeat(1e5) }}'])(
		'only if the service names the value, here not the group %j',
		async (group) => {
			const { error } = await refusedAtThird({ group });
			expect(error?.description).toContain('runs only the items that are not done, as they came');
			expect(error?.description).not.toContain('Take this back afterwards');
		},
	);
});

describe('Create Again If Uncertain', () => {
	const again = (createUncertainAgain: boolean | string = true) =>
		oneByOne({ createUncertainAgain });

	test('creates again only the items that its expression names', async () => {
		creates((item) => (item < 3 ? brokenAfter : undefined));
		const failed = await fixture.engine.run(tried, numbered(4));
		fixture.sandbox.faults.clear();
		const result = await fixture.engine.retry(failed, [again('={{ $itemIndex === 2 }}')]);
		expect(contextOf(result).itemIndex).toBe(0);
		expect(uncertainIn(result)).toEqual([0, 1]);
		expect(timesSent()).toEqual([1, 1, 2, 1]);
	});

	test.each(['a first execution', 'a Retry'])(
		'creates nothing again in the later tries of %s',
		async (what) => {
			const node = { ...again(), settings };
			creates((item) => (item === 1 ? brokenAfter : undefined));
			let result = await fixture.engine.run(node, numbered(2));
			if (what === 'a Retry') result = await fixture.engine.retry(result, [node]);
			expect(timesSent()).toEqual([1, what === 'a Retry' ? 2 : 1]);
			expect(contextOf(result)).toMatchObject({ itemIndex: 1, jobMayExist: true });
		},
	);

	test('leaves an item uncertain that was not sent again', async () => {
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const failed = await fixture.engine.run(once, numbered(2));
		creates(() => refused);
		const displayName = '={{ $json.n ? "" : "x" }}';
		const first = { parameters: { ...again().parameters, displayName } };
		expect(uncertainIn(await fixture.engine.retry(failed, [first]))).toEqual([1]);
	});
});
