import fc from 'fast-check';
import type { OnError } from 'n8n-workflow';

import type { Fault, Sandbox, When } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { create, credentialFor, numbered } from '../engine/fixture';
import { Engine } from '../engine/run';
import type { Result } from '../engine/run';

/*
 * Whatever goes wrong in a batch of creates: the jobs that exist are those in the output (or in the list of
 * the error) and some of those that an error calls uncertain. No item is missing, and none is there twice.
 */

const answer = (when: When, status: number, rest: Partial<Fault> = {}): Fault =>
	({ kind: 'answer', when, status, ...rest }) as Fault;

const comeBack = { headers: { 'retry-after': '0' } };

/** What can happen to a create before the service has acted on it. */
const before: Fault[] = [
	{ kind: 'break', when: 'beforeActing' },
	{ kind: 'stall', when: 'beforeActing' },
	{ kind: 'halfBody', when: 'beforeActing' },
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'hugeBody', when: 'beforeActing', bytes: 100_000 },
	{ kind: 'expireTokens' },
	{ kind: 'rateLimit', retryAfter: 0 },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/' },
	...[400, 401, 403, 404, 408, 409, 500, 502, 503].map((status) => answer('beforeActing', status)),
	answer('beforeActing', 503, comeBack),
	answer('beforeActing', 200),
	answer('beforeActing', 200, { body: [] } as Partial<Fault>),
];

/** What can happen afterwards, unless the service lies: it says that it refused only where it did. */
const after: Fault[] = [
	{ kind: 'break', when: 'afterActing' },
	{ kind: 'stall', when: 'afterActing' },
	{ kind: 'halfBody', when: 'afterActing' },
	{ kind: 'html', when: 'afterActing' },
	{ kind: 'hugeBody', when: 'afterActing', bytes: 100_000 },
	...[408, 500, 502, 503, 504].map((status) => answer('afterActing', status)),
	answer('afterActing', 200),
	answer('afterActing', 200, { body: { name: 'no id' } } as Partial<Fault>),
	answer('afterActing', 303, { headers: { location: '/jobs/1' } } as Partial<Fault>),
];

/** What can happen to a log-in. */
const ofLogin: Fault[] = [
	{ kind: 'html', when: 'beforeActing' },
	{ kind: 'redirect', location: 'http://127.0.0.1:9/' },
	answer('beforeActing', 401),
	answer('beforeActing', 503, comeBack),
	{ kind: 'rateLimit', retryAfter: 0 },
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
	creates: fc.array(faultOf([3, before], [3, after]), { maxLength: 30 }),
	logins: fc.array(faultOf([1, ofLogin]), { maxLength: 3 }),
});

interface Batch {
	size: number;
	concurrency: number;
	maxRetries: number;
	creates: Array<Fault | undefined>;
	logins: Array<Fault | undefined>;
}

let engine: Engine;

beforeAll(async () => {
	engine = await Engine.load();
});

/** Runs a batch against a service of its own. */
async function run(
	{ size, concurrency, maxRetries, creates, logins }: Batch,
	onError: OnError,
): Promise<{ result: Result; made: Array<{ uid: string; item: number }> }> {
	const sandbox: Sandbox = await startSandbox();
	try {
		engine.saveCredential(credentialFor(sandbox));
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			(operation === 'login' ? logins : creates).at(nOfOperation - 1),
		);
		const result = await engine.run(
			{
				parameters: create({
					displayName: '={{ $json.n }}',
					options: { concurrency, maxRetries, timeout: 60 },
				}),
				onError,
			},
			numbered(size),
		);
		const made = [...sandbox.store.jobs.values()].map(({ uid, displayName }) => ({
			uid,
			item: Number(displayName),
		}));
		return { result, made };
	} finally {
		await sandbox.close();
	}
}

/** What an output item says of its input item. */
function readItem({ json, pairedItem }: Result['items'][number]) {
	const { item } = pairedItem as { item: number };
	const { metadata, message } = json as {
		metadata?: { uid: string };
		message?: { jobMayExist: boolean; itemIndex: number };
	};
	if (metadata !== undefined) return { item, uid: metadata.uid, isUncertain: false };
	expect(message?.itemIndex).toBe(item);
	return { item, uid: undefined, isUncertain: message?.jobMayExist === true };
}

const itemsUpTo = (size: number) => Array.from({ length: size }, (_, item) => item);
const byNumber = (a: number, b: number) => a - b;

test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
	'in a batch that continues, every item and every job is accounted for: %s',
	async (onError) => {
		await fc.assert(
			fc.asyncProperty(batches, async (batch) => {
				const { result, made } = await run(batch, onError);
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

test('in a batch that stops, every job is in the list of the error or may be one that it names', async () => {
	await fc.assert(
		fc.asyncProperty(batches, async (batch) => {
			const { result, made } = await run(batch, 'stopWorkflow');
			const itemsOfJobs = made.map(({ item }) => item);
			expect(new Set(itemsOfJobs).size).toBe(made.length);

			if (result.error === undefined) {
				expect(
					result.items
						.map(readItem)
						.map(({ uid }) => uid)
						.sort(),
				).toEqual(made.map(({ uid }) => uid).sort());
				expect(result.items).toHaveLength(batch.size);
				return;
			}
			const { itemIndex, jobMayExist, createdJobs, uncertainItems } = contextOf(result);
			const uncertain = [...uncertainItems, ...(jobMayExist ? [itemIndex] : [])];
			const listed = new Map(createdJobs.map((job) => [job.itemIndex, job.uid]));
			expect(listed.size).toBe(createdJobs.length);
			for (const [item, uid] of listed) expect(made).toContainEqual({ item, uid });
			const unlisted = itemsOfJobs.filter((item) => !listed.has(item));
			expect(unlisted.filter((item) => !uncertain.includes(item))).toEqual([]);
			expect(uncertain.filter((item) => listed.has(item))).toEqual([]);
		}),
		{ numRuns: 30 },
	);
});

interface Context {
	itemIndex: number;
	jobMayExist: boolean;
	createdJobs: Array<{ itemIndex: number; uid: string }>;
	uncertainItems: number[];
}

function contextOf({ error }: Result): Context {
	if (error === undefined || !('context' in error)) throw new Error('The error has no context');
	return error.context as unknown as Context;
}
