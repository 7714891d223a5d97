import fc from 'fast-check';
import type { OnError } from 'n8n-workflow';

import type { Fault, Sandbox } from '../../sandbox';
import { afterActing, beforeActing, ofVerb, tooMany } from './faults';
import { answer } from '../support/answer';
import { create, credentialFor, newSandbox, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { jobEnds } from '../support/operations';
import { Engine } from '../support/run';
import type { Result } from '../support/run';
import { uncertainIn } from './batch';
import './seed';

/*
 * Whatever goes wrong in a batch of creates: the jobs that exist are those in the output (or in the list of
 * the error) and some of those that an error calls uncertain. No item is missing, and none is there twice,
 * however often n8n runs the node again. Where the jobs are to be ended, none runs on that the error does not name.
 */

/** What can happen to a login. */
const ofLogin: Fault[] = [
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/' },
	answer(401),
	...tooMany,
];

/** A fault, or none: each as often as its weight says. */
const faultOf = (...groups: Array<[number, Fault[]]>) =>
	fc.oneof(
		{ weight: 6, arbitrary: fc.constant(undefined) },
		...groups.map(([weight, faults]) => ({ weight, arbitrary: fc.constantFrom(...faults) })),
	);

const batches = fc.record({
	size: fc.integer({ min: 1, max: 12 }),
	concurrency: fc.integer({ min: 1, max: 5 }),
	maxRetries: fc.integer({ min: 0, max: 2 }),
	/** What the creates meet, in the order in which they come; the rest meets nothing. */
	creates: fc.array(faultOf([3, beforeActing], [3, afterActing]), { maxLength: 30 }),
	logins: fc.array(faultOf([1, ofLogin]), { maxLength: 3 }),
	/** What the verbs meet that end jobs. */
	verbs: fc.array(faultOf([6, ofVerb]), { maxLength: 15 }),
	retryOnFail: fc.boolean(),
});

type Batch = typeof batches extends fc.Arbitrary<infer Drawn> ? Drawn : never;

interface Made {
	uid: string;
	item: number;
	isRunning: boolean;
}

let engine: Engine;

beforeAll(async () => {
	engine = await Engine.load();
	hurry();
});
afterAll(() => {
	jest.restoreAllMocks();
});

/** How a batch is run. */
interface Settings {
	onError?: OnError;
	ifStopped?: string;
	/** Whether Retry On Fail is switched on where the batch has it. */
	tries?: boolean;
	/** How often Retry is pressed at most. */
	retries?: number;
}

/** Runs a batch against a service of its own, and again where it fails. */
async function run(
	{ size, concurrency, maxRetries, creates, logins, verbs, retryOnFail }: Batch,
	{ onError = 'stopWorkflow', ifStopped = 'keep', tries = false, retries = 0 }: Settings,
): Promise<{ result: Result; made: Made[] }> {
	const sandbox: Sandbox = await newSandbox();
	const faults: Record<string, Array<Fault | undefined>> = {
		login: logins,
		createJob: creates,
		changeJobState: verbs,
	};
	try {
		engine.saveCredential(credentialFor(sandbox));
		sandbox.faults.plan(({ operation, nOfOperation }) => faults[operation]?.at(nOfOperation - 1));
		const node = {
			parameters: create({
				displayName: '={{ $json.n }}',
				options: { concurrency, maxRetries, timeout: 60, ifStopped },
			}),
			onError,
			settings: tries ? { retryOnFail, maxTries: 2, waitBetweenTries: 1 } : {},
		};
		let result = await engine.run(node, numbered(size));
		for (let again = 0; again < retries && result.error !== undefined; again += 1) {
			result = await engine.retry(result, [node]);
		}
		const made = [...sandbox.store.jobs.values()].map(({ uid, displayName, state }) => ({
			uid,
			item: Number(displayName),
			isRunning: state === 'running',
		}));
		return { result, made };
	} finally {
		await sandbox.close();
	}
}

/** What an output item says of its input item. */
function readItem({ json, pairedItem }: Result['items'][number]) {
	const { item } = pairedItem as { item: number };
	const { metadata, error } = json as {
		metadata?: { uid: string };
		error?: { jobMayExist: boolean; itemIndex: number };
	};
	if (metadata !== undefined) return { item, uid: metadata.uid, isUncertain: false };
	expect(error?.itemIndex).toBe(item);
	return { item, uid: undefined, isUncertain: error?.jobMayExist === true };
}

const itemsUpTo = (size: number) => Array.from({ length: size }, (_, item) => item);
const byNumber = (a: number, b: number) => a - b;

test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
	'in a batch that continues, every item and every job is accounted for: %s',
	async (onError) => {
		await fc.assert(
			fc.asyncProperty(batches, async (batch) => {
				const { result, made } = await run(batch, { onError });
				expect(result.error).toBeUndefined();
				const items = result.items.map(readItem);

				expect(items.map(({ item }) => item).sort(byNumber)).toEqual(itemsUpTo(batch.size));
				const itemsOfJobs = made.map(({ item }) => item);
				expect(new Set(itemsOfJobs).size).toBe(made.length);

				for (const { item, uid, isUncertain } of items) {
					const job = made.find((candidate) => candidate.item === item);
					if (uid !== undefined) expect(job?.uid).toBe(uid);
					else if (job !== undefined)
						expect({ item, isUncertain }).toEqual({ item, isUncertain: true });
				}
			}),
			{ numRuns: 30 },
		);
	},
);

/** What is true of a run that may have ended in an error: each job is where somebody finds it. */
function expectNothingLost(batch: Batch, result: Result, made: Made[]): void {
	const itemsOfJobs = made.map(({ item }) => item);
	if (result.error === undefined) {
		const uids = result.items.map(readItem).map(({ uid }) => uid);
		expect(uids.sort()).toEqual(made.map(({ uid }) => uid).sort());
		expect(result.items).toHaveLength(batch.size);
		return;
	}
	const { createdJobs } = contextOf(result);
	const uncertain = uncertainIn(result);
	const listed = new Map(createdJobs.map((job) => [job.itemIndex, job.uid]));
	expect(listed.size).toBe(createdJobs.length);
	for (const [item, uid] of listed) {
		expect(made).toContainEqual(expect.objectContaining({ item, uid }));
	}
	const unlisted = itemsOfJobs.filter((item) => !listed.has(item));
	expect(unlisted.filter((item) => !uncertain.includes(item))).toEqual([]);
	expect(uncertain.filter((item) => listed.has(item))).toEqual([]);
}

test('however often n8n runs the node again, no item has two jobs, and no job is lost', async () => {
	await fc.assert(
		fc.asyncProperty(batches, async (batch) => {
			const { result, made } = await run(batch, { tries: true, retries: 3 });
			expect(new Set(made.map(({ item }) => item)).size).toBe(made.length);
			expectNothingLost(batch, result, made);
		}),
		{ numRuns: 30 },
	);
});

test('in a batch that stops, every job is named by the error, and runs on only if that says so', async () => {
	await fc.assert(
		fc.asyncProperty(batches, fc.constantFrom('keep', ...jobEnds), async (batch, ifStopped) => {
			const { result, made } = await run(batch, { ifStopped });
			expect(new Set(made.map(({ item }) => item)).size).toBe(made.length);
			expectNothingLost(batch, result, made);
			if (result.error === undefined || ifStopped === 'keep') return;
			const uncertain = uncertainIn(result);
			const endings = new Map(
				contextOf(result).createdJobs.map(({ uid, cleanup }) => [uid, cleanup?.success]),
			);
			for (const { uid, item, isRunning } of made) {
				if (!isRunning) continue;
				expect({ item, isNamed: endings.get(uid) === false || uncertain.includes(item) }).toEqual({
					item,
					isNamed: true,
				});
			}
		}),
		{ numRuns: 40 },
	);
});

interface Context {
	itemIndex: number;
	jobMayExist: boolean;
	createdJobs: Array<{ itemIndex: number; uid: string; cleanup?: { success: boolean } }>;
	uncertainItems: Array<{ itemIndex: number }>;
}

function contextOf({ error }: Result): Context {
	if (error === undefined || !('context' in error)) throw new Error('The error has no context');
	return error.context as unknown as Context;
}
