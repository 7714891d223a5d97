import fc from 'fast-check';
import type { OnError } from 'n8n-workflow';

import type { Fault, Sandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { create, credentialFor, newSandbox, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { jobEnds } from '../support/operations';
import type { NodeOptions, Result } from '../support/run';
import { Engine } from '../support/run';
import './seed';

/*
 * Runs that end and are repeated in any way: an oracle that knows what the service made looks at each run of a random
 * case. No item has two jobs that run. Every job that runs, and every item whose job may exist, is named: by the output,
 * the error, or a hint. Nothing is sent to another account than the one that the earlier jobs belong to. Where jobs are to
 * be ended, those that still run are named as such.
 */

/** What becomes of a create. */
const OUTCOMES = {
	created: undefined,
	refused: answer(400, { message: 'no' }),
	/** There is no job, but the node can't know. */
	uncertain: { kind: 'break', when: 'beforeActing' },
	/** There is a job. */
	lost: { kind: 'break', when: 'afterActing' },
	rejected: { kind: 'rateLimit', retryAfter: 0 },
	unavailable: answer(503),
	broken: { kind: 'halfBody', when: 'afterActing' },
} satisfies Record<string, Fault | undefined>;

type Outcome = keyof typeof OUTCOMES | 'slow';

/** An item whose create ended so may have a job, unless a later one of it has. */
const UNCERTAIN: Outcome[] = ['uncertain', 'lost', 'unavailable', 'broken'];

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
	{ weight: 5, arbitrary: fc.constant('created' as const) },
	{
		weight: 6,
		arbitrary: fc.constantFrom<Outcome>('slow', ...(Object.keys(OUTCOMES) as Outcome[])),
	},
);
const onErrors: OnError[] = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];
const onError = fc.oneof(
	{ weight: 3, arbitrary: fc.constant(onErrors[0]) },
	{ weight: 1, arbitrary: fc.constantFrom(...onErrors) },
);
const ifStopped = fc.constantFrom('keep', ...jobEnds);

/** How the node is set when n8n retries it. */
const retry = fc.record({
	onError,
	ifStopped,
	tries: fc.boolean(),
	executeOnce: fc.boolean(),
	otherAccount: fc.oneof(fc.constant(false), fc.constant(false), fc.boolean()),
	/** Items that n8n gives at most. */
	maxItems: fc.integer({ min: 1, max: 30 }),
	/** Whether the user has looked which uncertain items have no job. */
	looked: fc.boolean(),
});

const cases = fc.record({
	size: fc.integer({ min: 1, max: 12 }),
	concurrency: fc.integer({ min: 1, max: 4 }),
	/** What the creates meet, in the order in which they come; the rest is created. */
	creates: fc.array(outcome, { maxLength: 30 }),
	/** Whether a verb is refused, in their order. */
	verbs: fc.array(fc.boolean(), { maxLength: 8 }),
	onError,
	ifStopped,
	tries: fc.boolean(),
	/** The number of creates after which the credential is edited. */
	editedAt: fc.option(fc.integer({ min: 1, max: 8 })),
	cancelledAt: fc.option(fc.integer({ min: 1, max: 8 })),
	retries: fc.array(retry, { maxLength: 3 }),
});

type Case = typeof cases extends fc.Arbitrary<infer Drawn> ? Drawn : never;
type Setting = Pick<Case, 'onError' | 'ifStopped' | 'tries'> & { executeOnce?: boolean };

interface Context {
	itemIndex: number;
	jobMayExist?: boolean;
	createdJobs: Array<{ itemIndex: number; uid: string; cleanup?: { success: boolean } }>;
	uncertainItems: Array<{ itemIndex: number }>;
}

let engine: Engine;
let own: Sandbox;
let other: Sandbox;
/** What the node has thrown last: n8n keeps nothing of a cancelled one. */
let thrown: unknown;

beforeAll(async () => {
	[engine, own, other] = await Promise.all([Engine.load(), newSandbox(), newSandbox()]);
	hurry();
	const { node } = engine.loaded;
	const execute = node.execute as (this: never) => Promise<never>;
	jest.spyOn(node, 'execute').mockImplementation(async function (this: never) {
		thrown = undefined;
		try {
			return await execute.call(this);
		} catch (error) {
			thrown = error;
			throw error;
		}
	});
});
afterAll(async () => {
	jest.restoreAllMocks();
	await Promise.all([own.close(), other.close()]);
});

/** The service as one case sees it. */
class Oracle {
	/** The items whose last create left them uncertain. */
	readonly uncertain = new Set<number>();
	creates = 0;
	private verbs = 0;

	constructor(
		private readonly drawn: Case,
		readonly namespace: string,
		private readonly onCreate: () => void,
	) {
		for (const sandbox of [own, other]) {
			sandbox.clearCalls();
			sandbox.faults.plan(({ operation, body }) => {
				if (operation === 'changeJobState') {
					return this.drawn.verbs[this.verbs++] === true ? answer(403) : undefined;
				}
				if (operation !== 'createJob') return undefined;
				const item = itemOf((body as { job: { displayName: string } }).job);
				const next = this.drawn.creates[this.creates++] ?? 'created';
				if (UNCERTAIN.includes(next)) this.uncertain.add(item);
				else if (next !== 'rejected') this.uncertain.delete(item);
				this.onCreate();
				return next === 'slow'
					? { kind: 'wait', when: 'afterActing', until: new Promise(setImmediate) }
					: OUTCOMES[next];
			});
		}
	}

	/** The jobs that run, by their IDs. */
	running(sandboxes = [own, other]): Map<string, number> {
		const jobs = sandboxes.flatMap(({ store }) => [...store.jobs.values()]);
		return new Map(
			jobs
				.filter(({ namespace, state }) => namespace === this.namespace && state === 'running')
				.map((job) => [job.uid, itemOf(job)]),
		);
	}
}

const itemOf = ({ displayName }: { displayName: string }) => Number(displayName);

/** What a run says: the jobs and the uncertain items that its error, its output or its hints name. */
function saidBy({ items, error, run }: Pick<Result, 'items' | 'error' | 'run'>) {
	const uids = new Map<string, boolean>();
	const uncertain: number[] = [];
	if (error !== undefined && 'context' in error) {
		const context = error.context as unknown as Context;
		for (const { uid, cleanup } of context.createdJobs) uids.set(uid, cleanup?.success ?? false);
		uncertain.push(...context.uncertainItems.map(({ itemIndex }) => itemIndex));
		if (context.jobMayExist === true) uncertain.push(context.itemIndex);
	}
	for (const { json, pairedItem } of items) {
		const { metadata, error: failed } = json as {
			metadata?: { uid: string };
			error?: { jobMayExist: boolean };
		};
		if (metadata !== undefined) uids.set(metadata.uid, false);
		if (failed?.jobMayExist === true) uncertain.push((pairedItem as { item: number }).item);
	}
	const hints = (run.data.resultData.runData['Node 1'] ?? []).flatMap((data) => data.hints ?? []);
	const text = hints.map(({ message }) => message).join('\n');
	for (const [, uid = ''] of text.matchAll(/item \d+: ([^,.\s]+)/g)) uids.set(uid, false);
	const [, mayExist = ''] = /The job may exist for (.*?):/.exec(text) ?? [];
	uncertain.push(...(mayExist.match(/\d+/g) ?? []).map(Number));
	return { uids, uncertain };
}

function check(oracle: Oracle, result: Result, setting: Setting, isCancelled: boolean): void {
	const error = isCancelled ? (thrown as Result['error']) : result.error;
	const { uids, uncertain } = saidBy({ ...result, error });
	const running = [...oracle.running()];
	expect(Math.min(oracle.running([own]).size, oracle.running([other]).size)).toBe(0);
	const certain = running.filter(([, item]) => !oracle.uncertain.has(item));
	const items = certain.map(([, item]) => item);
	expect({ twice: items.filter((item, n) => items.indexOf(item) !== n) }).toEqual({ twice: [] });
	const unnamed = certain.filter(([uid]) => uids.get(uid) !== false);
	expect({ unnamed }).toEqual({ unnamed: [] });
	const uncertainUnnamed = [...oracle.uncertain].filter((item) => !uncertain.includes(item));
	expect({ uncertainUnnamed }).toEqual({ uncertainUnnamed: [] });
	const isEnding = setting.ifStopped !== 'keep' && error !== undefined;
	if (!isEnding || !('context' in error)) return;
	const { createdJobs } = error.context as unknown as Context;
	const untold = createdJobs.filter(({ cleanup }) => cleanup === undefined);
	expect({ untold }).toEqual({ untold: [] });
}

let runs = 0;

async function play(drawn: Case): Promise<void> {
	const { size, concurrency, retries, cancelledAt, editedAt } = drawn;
	let cancel = (): void => {};
	let isCancelled = false;
	const oracle = new Oracle(drawn, `run-${(runs += 1)}`, () => {
		if (retriesBegun > 0) return;
		if (oracle.creates === editedAt) engine.saveCredential(credentialFor(other));
		if (oracle.creates === cancelledAt) {
			isCancelled = true;
			cancel();
		}
	});
	let retriesBegun = 0;
	const nodeOf = (setting: Setting, more: object = {}): NodeOptions => ({
		parameters: create({
			displayName: '={{ $json.n }}',
			namespace: oracle.namespace,
			options: { concurrency, maxRetries: 1, ifStopped: setting.ifStopped, ...more },
		}),
		onError: setting.onError ?? 'stopWorkflow',
		settings: {
			...(setting.tries && { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 }),
			...(setting.executeOnce === true && { executeOnce: true }),
		},
	});

	engine.saveCredential(credentialFor(own));
	const started = engine.start([nodeOf(drawn)], numbered(size));
	({ cancel } = started);
	let result = await started.result;
	isCancelled &&= thrown !== undefined;
	check(oracle, result, drawn, isCancelled);
	if (isCancelled) return;

	for (const { otherAccount, maxItems, looked, ...setting } of retries) {
		if (result.error === undefined) return;
		retriesBegun += 1;
		const account = otherAccount ? other : own;
		engine.saveCredential(credentialFor(account));
		for (const { data } of result.run.data.executionData?.nodeExecutionStack ?? []) {
			data.main = (data.main ?? []).map((items) => items?.slice(0, maxItems) ?? null);
		}
		const withJob = [...oracle.running().values()];
		const without = [...oracle.uncertain].filter((item) => !withJob.includes(item));
		const createUncertainAgain = looked && `={{ ${JSON.stringify(without)}.includes($json.n) }}`;
		const isOthers = withJob.length > 0 && oracle.running([account]).size === 0;
		const calls = own.calls.length + other.calls.length;
		result = await engine.retry(result, [nodeOf(setting, { createUncertainAgain })]);
		if (isOthers) expect(own.calls.length + other.calls.length).toBe(calls);
		check(oracle, result, setting, false);
	}
}

test('however a run ends and is repeated, nothing is lost, doubled or sent elsewhere', async () => {
	const numRuns = Number(process.env.RUNS ?? 100);
	await fc.assert(fc.asyncProperty(cases, play), { numRuns });
}, 1_800_000);
