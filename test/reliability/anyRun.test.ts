import fc from 'fast-check';
import type { OnError } from 'n8n-workflow';

import type { Fault, Sandbox } from '../../sandbox';
import { whenOf } from '../../sandbox/faults/fault';
import { actAndAnswer, answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { watchEventLoop } from '../support/eventLoop';
import { credentialFor, getAll, newSandbox, numbered, useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import type { NodeOptions, Result } from '../support/run';
import { batch, createdIn, itemOf, tries, uncertainIn, watchNode } from './batch';
import { onErrors, SEED } from './seed';

/*
 * Random runs with faults, cancels and retries never lose a job and never create one twice. An oracle that knows the
 * jobs on the service checks each run:
 *
 * - No item has two running jobs.
 * - The output, the error or a hint names every running job and every item whose job may exist.
 * - A run that continues returns each item once, as its result or as its error.
 * - Nothing is sent to another account than that of the earlier jobs.
 * - Each run ends and doesn't block the event loop, even if tokens expire during a batch and no further login succeeds.
 */

/** Returns faults after which the node can't know whether the service has acted. */
const unclear = (when: 'beforeActing' | 'afterActing'): Fault[] => [
	...(['break', 'halfBody', 'html', 'stall'] as const).map((kind): Fault => ({ kind, when })),
	{ kind: 'hugeBody', when, bytes: 100_000 },
];
const elsewhere: Fault = { kind: 'redirect', location: 'http://127.0.0.1:9/' };

/** Faults of a create, by their effect on its job. */
const faults = {
	/** The service hasn't acted, and its response says so. */
	refused: [400, 403, 404, 409].map((status) => answer(status)),
	/** The service hasn't created a job, but the node can't know this. */
	uncertain: [
		...unclear('beforeActing'),
		...[elsewhere, answer(200), answer(200, [])],
		...[408, 500, 502, 503].map((status) => answer(status)),
	],
	/** The service has created a job, but the node doesn't learn its ID. */
	lost: [
		...unclear('afterActing'),
		...[200, 408, 500, 502, 503, 504].map((status) => actAndAnswer(status)),
		actAndAnswer(200, { name: 'no id' }),
		actAndAnswer(303, undefined, { location: '/jobs/1' }),
	],
	/** The node sends the create again. */
	resent: [
		{ kind: 'rateLimit', retryAfter: 0 },
		{ kind: 'expireTokens' },
		answer(503, undefined, { 'retry-after': '0' }),
	],
} satisfies Record<string, Fault[]>;

type Kind = keyof typeof faults;
type Met = { kind: Kind | 'created' | 'slow'; fault?: Fault };

const met: fc.Arbitrary<Met> = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom<Met>({ kind: 'created' }, { kind: 'slow' }) },
	...(Object.keys(faults) as Kind[]).map((kind) =>
		fc.constantFrom<Fault>(...faults[kind]).map((fault): Met => ({ kind, fault })),
	),
);
/** Returns what happens to a create. If `mayEndTokens` is true, all tokens may expire at that moment. */
const stepOf = (mayEndTokens: boolean) =>
	fc.record({ met, endsTokens: mayEndTokens ? fc.boolean() : fc.constant(false) });

/** Faults of a login. */
const refusedLogin: Fault[] = [
	...[200, 500, 504].map((status): Fault => ({ kind: 'html', when: 'beforeActing', status })),
	...[400, 401, 403, 404, 409, 500].map((status) => answer(status)),
	...[elsewhere, answer(200, {}), answer(200, [])],
];
const ofLogin: Fault[] = [
	...[elsewhere, answer(401), ...faults.resent],
	{ kind: 'html', when: 'beforeActing' },
];
const maybe = (of: Fault[]) => fc.option(fc.constantFrom(...of), { nil: undefined });

/** Most runs need no such event: only a run that ends with an error by itself can be retried. */
const rarely = (at: fc.Arbitrary<number>) =>
	fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, at);

const settings = {
	/** Most runs stop the workflow: only such a run can be retried. */
	onError: fc.constantFrom<OnError>('stopWorkflow', 'stopWorkflow', 'stopWorkflow', ...onErrors),
	/** Whether Retry On Fail is on. */
	tries: fc.boolean(),
};

/** The settings of the node when n8n retries it. */
const retry = fc.record({
	...settings,
	executeOnce: fc.boolean(),
	otherAccount: fc.oneof(fc.constant(false), fc.boolean()),
	/** The maximum number of items that the node gets. */
	maxItems: fc.integer({ min: 1, max: 25 }),
	/** Whether the user has found out which uncertain items have no job. */
	looked: fc.boolean(),
});

const cases = fc.record({
	...settings,
	size: fc.integer({ min: 1, max: 30 }),
	concurrency: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 2 }),
	maxRetries: fc.integer({ min: 0, max: 2 }),
	/** Whether the stored token is a minute old. */
	hasOldToken: fc.boolean(),
	/** The faults of the requests, in the order in which they are sent. All further requests succeed. */
	creates: fc.boolean().chain((endTokens) => fc.array(stepOf(endTokens), { maxLength: 40 })),
	logins: fc.oneof(fc.constant([]), fc.array(maybe(ofLogin), { maxLength: 3 })),
	/** The fault of all further logins. */
	lastLogins: fc.option(fc.constantFrom(...refusedLogin), { nil: undefined, freq: 2 }),
	/** The number of creates after which the credential is edited, or the run is cancelled. */
	editedAt: rarely(fc.integer({ min: 1, max: 8 })),
	cancelledAt: rarely(fc.integer({ min: 1, max: 8 })),
	retries: fc.array(retry, { minLength: 1, maxLength: 3 }),
});

type Case = typeof cases extends fc.Arbitrary<infer Drawn> ? Drawn : never;
type Setting = Pick<Case, 'onError' | 'tries'> & { executeOnce?: boolean };

const fixture = useSandbox();
let limits: Limits;
const trying = watchEventLoop();
beforeEach(() => {
	limits = hurry();
});

/** Controls the services of one case, at the account's address and at another one, and knows which jobs exist. */
class Oracle {
	/** The items whose last create had an unclear result. */
	readonly uncertain = new Set<number>();
	/** The number of creates that the services have received. */
	creates = 0;
	private readonly logins: Array<Fault | undefined>;

	constructor(
		readonly sandboxes: [own: Sandbox, other: Sandbox],
		private readonly drawn: Case,
		private readonly onCreate: () => void,
	) {
		this.logins = [...drawn.logins];
		for (const { faults: plan, tokens } of sandboxes) {
			plan.plan((call) => {
				if (call.operation === 'login') return this.logins.shift() ?? drawn.lastLogins;
				if (call.operation !== 'createJob') return undefined;
				return this.next(itemOf(call), tokens.isGood(call.token ?? ''));
			});
		}
	}

	/**
	 * Returns the faults of the next create.
	 *
	 * @param isAccepted whether the token is valid; if not, the service refuses the create, and its response says so
	 */
	private next(item: number, isAccepted: boolean): Fault[] {
		const { met: step, endsTokens = false } = this.drawn.creates[this.creates++] ?? {};
		const { kind, fault } = step ?? { kind: 'created' };
		const isAnswered = !isAccepted && (fault === undefined || whenOf(fault) === 'afterActing');
		if (!isAnswered && (kind === 'uncertain' || kind === 'lost')) this.uncertain.add(item);
		else if (!isAnswered && kind !== 'resent') this.uncertain.delete(item);
		this.onCreate();
		const meets: Fault[] = [];
		// The tokens expire together with the fault. If they expired earlier, the service wouldn't act.
		const when = fault === undefined ? 'afterActing' : whenOf(fault);
		if (endsTokens) meets.push({ kind: 'expireTokens', when });
		if (kind === 'slow') {
			meets.push({ kind: 'wait', when: 'afterActing', until: new Promise(setImmediate) });
		}
		if (fault !== undefined) meets.push(limits.orRunOut(fault));
		return meets;
	}

	/** Returns the ID of each running job and the number of its item. */
	running(sandboxes = this.sandboxes as Sandbox[]): Map<string, number> {
		const jobs = sandboxes.flatMap(({ store }) => [...store.jobs.values()]);
		const numberOf = (name: string) => Number(name.replace('Job ', ''));
		return new Map(
			jobs
				.filter(({ state }) => state === 'running')
				.map(({ uid, displayName }) => [uid, numberOf(displayName)]),
		);
	}
}

/** Returns what a run says: the IDs of its jobs, and the uncertain items. */
function saidBy(result: Result) {
	const uids = new Set(createdIn(result));
	const uncertain = uncertainIn(result);
	for (const { json, pairedItem } of result.items) {
		const { metadata, error } = json as {
			metadata?: { uid: string };
			error?: { jobMayExist: boolean };
		};
		if (metadata !== undefined) uids.add(metadata.uid);
		if (error?.jobMayExist === true) uncertain.push((pairedItem as { item: number }).item);
	}
	const runs = result.run.data.resultData.runData['Node 1'] ?? [];
	const text = runs.flatMap(({ hints = [] }) => hints.map(({ message }) => message)).join('\n');
	for (const [, uid = ''] of text.matchAll(/item \d+: ([^,.\s]+)/g)) uids.add(uid);
	const [, mayExist = ''] = /The job may exist for (.*?):/.exec(text) ?? [];
	for (const [, first, last = first] of mayExist.matchAll(/(\d+)(?: to (\d+))?/g)) {
		for (let item = Number(first); item <= Number(last); item += 1) uncertain.push(item);
	}
	return { uids, uncertain };
}

/**
 * Checks that a run has lost, doubled or concealed nothing.
 *
 * @param given number of items that the run was given
 */
function check(oracle: Oracle, result: Result, given: number): void {
	const { uids, uncertain } = saidBy(result);
	const [own, other] = oracle.sandboxes.map((sandbox) => oracle.running([sandbox]));
	const certain = [...oracle.running()].filter(([, item]) => !oracle.uncertain.has(item));
	const items = certain.map(([, item]) => item);
	expect({
		atBothAccounts: Math.min(own?.size ?? 0, other?.size ?? 0),
		twice: items.filter((item, n) => items.indexOf(item) !== n),
		unnamed: certain.filter(([uid]) => !uids.has(uid)),
		uncertainUnnamed: [...oracle.uncertain].filter((item) => !uncertain.includes(item)),
	}).toEqual({ atBothAccounts: 0, twice: [], unnamed: [], uncertainUnnamed: [] });
	if (result.error !== undefined) return;
	const ends = result.items.map(({ pairedItem }) => (pairedItem as { item: number }).item);
	expect(ends.sort((a, b) => a - b)).toEqual(numbered(given).map(({ n }) => n));
}

let played = 0;

async function play(drawn: Case): Promise<void> {
	const what = `SEED=${SEED} RUNS=${(played += 1)}: ${JSON.stringify(drawn)}`;
	trying(what);
	const sandboxes = await Promise.all([newSandbox(), newSandbox()]);
	try {
		await playAt(sandboxes, drawn);
	} catch (error) {
		throw new Error(what, { cause: error });
	} finally {
		await Promise.all(sandboxes.map(async (sandbox) => await sandbox.close()));
	}
}

async function playAt([own, other]: [Sandbox, Sandbox], drawn: Case): Promise<void> {
	const { size, concurrency, maxRetries, hasOldToken, retries, cancelledAt, editedAt } = drawn;
	const { engine } = fixture;
	engine.saveCredential(credentialFor(own));
	if (hasOldToken) {
		await engine.run({ parameters: getAll({ limit: 1 }) });
		pass(MINUTE_MS);
	}
	const watched = watchNode(engine);
	let isFirst = true;
	let cancel = (): void => {};
	let isCancelled = false;
	const oracle = new Oracle([own, other], drawn, () => {
		if (!isFirst) return;
		if (oracle.creates === editedAt) engine.saveCredential(credentialFor(other));
		if (oracle.creates === cancelledAt) {
			isCancelled = true;
			cancel();
		}
	});
	const nodeOf = (setting: Setting, more: object = {}): NodeOptions => ({
		parameters: batch({
			...(concurrency !== undefined && { concurrency }),
			...{ maxRetries, ...more },
		}),
		onError: setting.onError,
		settings: {
			...(setting.tries && tries(2)),
			...(setting.executeOnce === true && { executeOnce: true }),
		},
	});

	const started = engine.start([nodeOf(drawn)], numbered(size));
	({ cancel } = started);
	let result = await started.result;
	isFirst = false;
	if (isCancelled) {
		// n8n stores no output and no error of a cancelled node.
		const end = await watched.end();
		result = { ...result, ...end } as Result;
	}
	check(oracle, result, size);
	let given = size;

	for (const { otherAccount, maxItems, looked, ...setting } of isCancelled ? [] : retries) {
		if (result.error === undefined) return;
		const account = otherAccount ? other : own;
		given = Math.min(given, maxItems);
		engine.saveCredential(credentialFor(account));
		for (const { data } of result.run.data.executionData?.nodeExecutionStack ?? []) {
			data.main = (data.main ?? []).map((items) => items?.slice(0, given) ?? null);
		}
		const withJob = [...oracle.running().values()];
		const without = [...oracle.uncertain].filter((item) => !withJob.includes(item));
		const createUncertainAgain = looked && `={{ ${JSON.stringify(without)}.includes($json.n) }}`;
		if (looked) for (const item of without) oracle.uncertain.delete(item);
		const isOthers = withJob.length > 0 && oracle.running([account]).size === 0;
		const createsBefore = oracle.creates;
		result = await engine.retry(result, [nodeOf(setting, { createUncertainAgain })]);
		if (isOthers) expect(oracle.creates).toBe(createsBefore);
		check(oracle, result, setting.executeOnce ? 1 : given);
	}
}

test('However a run ends and is repeated, no job is lost, doubled or sent to another account', async () => {
	await fc.assert(fc.asyncProperty(cases, play), { timeout: 60_000 });
}, 1_800_000);
