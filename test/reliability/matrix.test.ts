import type { INodeExecutionData, OnError } from 'n8n-workflow';

import type { Fault, Sandbox, StoredJob } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { credentialFor, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Limits } from '../support/hurry';
import type { KnownOperation } from '../support/operations';
import { operations, verbOf } from '../support/operations';
import { Engine } from '../support/run';
import type { Result } from '../support/run';
import { Client } from '../sandbox/client';
import { makeReadyFor, states } from '../sandbox/states';
import { contextOf } from './batch';
import { ends, rows } from './failures';
import type { Row } from './failures';

/*
 * Every kind of operation meets every fault, in its first request alone and, with each On Error, in all of them. What
 * comes of it stands in failures.ts.
 */

const onErrors: OnError[] = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];

const changes = operations.filter(({ kind }) => kind === 'change');
const others = operations.filter(({ kind }) => kind !== 'change');

const cases = rows.flatMap((row, rowIndex) =>
	Object.entries(row.faults).map(([name, [fault, httpStatus]], index) => {
		// The changes of a job's state have one implementation: each fault meets one of them.
		const turn = (rowIndex + index) % changes.length;
		// Seconds pass here where a minute is waited: such faults have one of the three each.
		const some = row.end === 'waits' ? onErrors.slice(index, index + 1) : onErrors;
		const runs: Run[] = [
			{ times: 'once', onError: 'stopWorkflow' },
			...some.map((onError) => ({ times: 'always' as const, onError })),
		];
		return {
			name,
			row,
			fault,
			httpStatus,
			runs,
			meets: [...others, ...changes.slice(turn, turn + 1)],
		};
	}),
);

interface Run {
	/** Whether the first request alone meets the fault, or all of them. */
	times: 'once' | 'always';
	onError: OnError;
}

/** After it, a token's rejection is believed. */
const OLD_MS = 61_000;
const now = Date.now.bind(Date);
let runsBefore = 0;

let engine: Engine;
let sandbox: Sandbox;
let limits: Limits;

beforeAll(async () => {
	engine = await Engine.load();
});

beforeEach(async () => {
	limits = hurry();
	jest.spyOn(Date, 'now').mockImplementation(() => now() + runsBefore * OLD_MS);
	sandbox = await startSandbox();
	engine.saveCredential(credentialFor(sandbox));
});

afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

test.each(cases)('$name', async ({ row, fault, httpStatus, runs, meets }) => {
	for (const operation of meets) {
		for (const { times, onError } of runs) {
			const { kind, value } = operation;
			const job = kind === 'change' ? await newJob() : undefined;
			if (httpStatus === 401) await growOld();
			const made = sandbox.store.jobs.size;
			const result = await run(operation, { fault, times, onError, job });
			const error = errorIn(result);

			expect({ value, times, onError, ends: endOf(operation, error), ...error }).toEqual({
				...{ value, times, onError, ends: ends[endFor(row, operation)][times === 'once' ? 0 : 1] },
				...(error && errorFor(row, operation, { httpStatus, job })),
			});
			if (error === undefined) expectGood(operation, result.items, job);
			if (kind !== 'create') continue;
			const hasActed = !error || ('when' in fault && fault.when === 'afterActing');
			expect(sandbox.store.jobs.size - made).toBe(hasActed ? 1 : 0);
			if (hasActed && error) expect(row.mayExist).toBe(true);
		}
	}
});

/** A job on the service that runs. */
async function newJob(): Promise<StoredJob | undefined> {
	sandbox.faults.clear();
	const client = new Client(sandbox);
	await client.login();
	await client.createdJob();
	return [...sandbox.store.jobs.values()].at(-1);
}

/** Lets the token that is stored grow old. */
async function growOld(): Promise<void> {
	sandbox.faults.clear();
	await engine.run({ parameters: getAll() });
	runsBefore += 1;
}

async function run(
	{ kind, value, calls, parameters }: KnownOperation,
	{ fault, times, onError, job }: Run & { fault: Fault; job: StoredJob | undefined },
): Promise<Result> {
	if (kind === 'change' && job !== undefined) makeReadyFor(verbOf(value), job);
	sandbox.clearCalls();
	sandbox.faults.plan((call) =>
		call.operation === calls && (times === 'always' || call.nOfOperation === 1)
			? limits.orRunOut(fault)
			: undefined,
	);
	const options = { maxRetries: 1 };
	return await engine.run({ parameters: parameters({ options, jobId: job?.uid ?? '' }), onError });
}

/** What the error says in which the item has ended. */
function errorIn(result: Result) {
	const [json] = result.items.map((item) => item.json);
	if (result.error === undefined && json?.error === undefined) return undefined;
	const { message, ...details } =
		result.error === undefined
			? { message: json?.message, ...Object(json?.error) }
			: {
					message: result.error.message,
					description: result.error.description,
					...contextOf(result),
				};
	const { description, httpStatus, jobMayExist } = details as Record<string, unknown>;
	const lines = String(description).split('\n');
	return {
		title: String(message),
		advice: lines[0],
		httpStatus,
		jobMayExist: jobMayExist === true,
		saysTryAgain: /try (it )?again/i.test(`${String(message)} ${String(description)}`),
	};
}

/** How an item has ended, and after how many requests. */
function endOf({ calls }: KnownOperation, error: object | undefined): string {
	const tokens = sandbox.calls.flatMap((call) =>
		call.operation === calls && !isQuestion(call) ? call.token : [],
	);
	const count = new Set(tokens).size;
	const sent = tokens.length > 2 && count === 1 ? 'many' : String(tokens.length);
	const withTokens = count === 1 ? '' : ` with ${count} tokens`;
	return `${error === undefined ? 'a result' : 'an error'} after ${sent}${withTokens}`;
}

const isQuestion = ({ query }: Sandbox['calls'][number]) => query['ListOption.limit'] === '1';

function endFor(
	{ end, endOfChange = end, endOfRead = end, mayExist }: Row,
	{ kind, idempotent }: KnownOperation,
): Row['end'] {
	const ownEnd = { create: end, change: endOfChange, read: endOfRead }[kind];
	return mayExist && !idempotent && ownEnd !== 'isTaken' ? 'fails' : ownEnd;
}

/** What to do about a job that may exist. It takes the place of "try again". */
const lookForTheJob =
	"Before you run this item again, look on the service for a job named 'Report' in namespace 'default'. The request had been sent, and the node didn't resend it, so that no job is created twice.";

const lookAtTheJob =
	"Before you run this item again, check the state of the job on the service. The node didn't resend the request, since it may have worked.";

/** What an error says of how often a request was sent; an ellipsis stands for a number. */
function triesOf(row: Row, operation: KnownOperation): string {
	const { kind } = operation;
	const end = endFor(row, operation);
	if (end === 'waits')
		return ' All requests waited … s for the service (probes: …). The node tried … times.';
	if (end !== 'isResent') return '';
	const mayHaveWorked =
		kind === 'change' ? ' An earlier try got no clear response and may have worked.' : '';
	return ` The node tried 2 times.${mayHaveWorked}`;
}

function errorFor(
	row: Row,
	operation: KnownOperation,
	{ httpStatus, job }: { httpStatus: number | null; job: StoredJob | undefined },
) {
	const { kind, words, idempotent } = operation;
	const mayHaveWorked = !idempotent && row.mayExist === true;
	const jobMayExist = kind === 'create' && mayHaveWorked;
	const doubt = jobMayExist ? '; the job may exist' : '; it may have worked';
	const all = { ...words, id: job?.uid ?? '', url: sandbox.url };
	const filledIn = (text: Row['title']) =>
		Object.entries(all).reduce(
			(whole, [name, word]) => whole.replaceAll(`<${name}>`, word),
			typeof text === 'string' ? text : text[kind],
		);
	const look = jobMayExist ? lookForTheJob : lookAtTheJob;
	const advice = mayHaveWorked ? look : filledIn(row.advice) + triesOf(row, operation);
	return {
		title: `${filledIn(row.title)}${mayHaveWorked ? doubt : ''}`,
		advice: expect.stringMatching(patternOf(advice)) as unknown,
		httpStatus,
		jobMayExist,
		// To try again what may have worked makes a second job.
		saysTryAgain: advice.includes('Try again'),
	};
}

function patternOf(text: string): RegExp {
	const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	return new RegExp(`^${parts.join('\\d+')}$`);
}

/** What a result must be. */
function expectGood(
	{ kind, value, gives }: KnownOperation,
	items: INodeExecutionData[],
	job: StoredJob | undefined,
): void {
	const output = items.map(({ json }) => json);
	if (kind === 'create') {
		const { uid, namespace } = [...sandbox.store.jobs.values()].at(-1) ?? {};
		expect(output).toMatchObject([{ metadata: { uid, namespace }, displayName: 'Report' }]);
	} else if (gives !== undefined) {
		expect(output).toEqual(gives(sandbox.store));
	} else {
		const metadata = { namespace: job?.namespace, uid: job?.uid };
		expect(output).toMatchObject([{ metadata, operation: value, success: true }]);
		const calls = sandbox.calls.filter(({ operation }) => operation === 'changeJobState');
		if (calls.length === 2) expect(job?.state).toBe(states[verbOf(value)].to);
	}
}
