import type { INodeExecutionData } from 'n8n-workflow';

import type { Fault, Sandbox, StoredJob } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { credentialFor } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Limits } from '../support/hurry';
import type { KnownOperation } from '../support/operations';
import { operations, stateChanges, verbOf } from '../support/operations';
import { Engine } from '../support/run';
import type { Result } from '../support/run';
import { Client } from '../sandbox/client';
import { makeReadyFor, states } from '../sandbox/states';
import { contextOf } from './batch';
import { failures } from './matrix/failures';
import { noAnswer } from './matrix/noAnswer';
import { refusals } from './matrix/refusals';
import type { Cell, Row } from './matrix/row';

/*
 * Every operation of the node meets every fault: in its first request alone, and in all of them. What is to come
 * of it is written in the folder matrix.
 */

const cases = [...noAnswer, ...refusals, ...failures].flatMap((row) =>
	Object.entries(row.faults).map(([name, [fault, httpStatus]]) => ({
		name,
		row,
		fault,
		httpStatus,
	})),
);

let engine: Engine;
let sandbox: Sandbox;
let limits: Limits;

beforeAll(async () => {
	engine = await Engine.load();
});

beforeEach(async () => {
	limits = hurry();
	sandbox = await startSandbox();
	engine.saveCredential(credentialFor(sandbox));
});

afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

test.each(cases)('$name', async ({ row, fault, httpStatus }) => {
	const jobs = await newJobs(2 * stateChanges.length);
	for (const operation of operations) {
		for (const times of ['once', 'always'] as const) {
			const cell: Cell = row[operation.kind];
			const job = operation.kind === 'change' ? jobs.pop() : undefined;
			const made = sandbox.store.jobs.size;
			const result = await run(operation, fault, times, job);
			const isError = result.error !== undefined;

			expect({ operation: operation.value, times, ...whatWas(operation, result) }).toEqual({
				operation: operation.value,
				times,
				ends: cell[times],
				...(isError ? whatShouldBeSaid(cell, operation, { httpStatus, job }) : {}),
			});
			if (!isError) expectGood(operation, result.items, job);
			if (operation.kind === 'create') {
				expectJobs(sandbox.store.jobs.size - made, { fault, isError, cell });
			}
		}
	}
});

/** Jobs on the service that run. */
async function newJobs(count: number): Promise<StoredJob[]> {
	const client = new Client(sandbox);
	await client.login();
	for (let n = 0; n < count; n += 1) await client.createdJob();
	return [...sandbox.store.jobs.values()];
}

async function run(
	{ kind, value, calls, parameters }: KnownOperation,
	fault: Fault,
	times: 'once' | 'always',
	job: StoredJob | undefined,
): Promise<Result> {
	if (kind === 'change' && job !== undefined) makeReadyFor(verbOf(value), job);
	sandbox.clearCalls();
	sandbox.faults.plan((call) =>
		call.operation === calls && (times === 'always' || call.nOfOperation === 1)
			? limits.orRunOut(fault)
			: undefined,
	);
	return await engine.run({
		parameters: parameters({
			options: { maxRetries: 1 },
			...(job === undefined ? {} : { jobId: job.uid }),
		}),
	});
}

/** How a run has ended, after how many requests, and what its error says. */
function whatWas({ calls, kind }: KnownOperation, result: Result) {
	const { error } = result;
	const tokens = sandbox.calls.flatMap((call) => (call.operation === calls ? call.token : []));
	const count = new Set(tokens).size;
	const sent = tokens.length > 2 && count === 1 ? 'many' : String(tokens.length);
	const withTokens = count === 1 ? '' : ` with ${count} tokens`;
	const ends = `${error === undefined ? 'a result' : 'an error'} after ${sent}${withTokens}`;
	if (error === undefined) return { ends };
	const { httpStatus, jobMayExist } = contextOf(result);
	const lines = error.description?.split('\n') ?? [];
	return {
		ends,
		title: error.message,
		advice: lines.find((line) => !line.startsWith('The service says:')),
		httpStatus,
		...(kind === 'create' ? { jobMayExist } : {}),
		saysTryAgain: /try (it )?again/i.test(`${error.message} ${error.description}`),
	};
}

function whatShouldBeSaid(
	{ title = '', advice = '', jobMayExist }: Cell,
	{ kind, words }: KnownOperation,
	{ httpStatus, job }: { httpStatus: number | null; job: StoredJob | undefined },
) {
	const all = { ...words, id: job?.uid ?? '', url: sandbox.url };
	const filledIn = (text: string) =>
		Object.entries(all).reduce((whole, [name, word]) => whole.replaceAll(`<${name}>`, word), text);
	return {
		title: filledIn(title),
		advice: expect.stringMatching(patternOf(filledIn(advice))),
		httpStatus,
		...(kind === 'create' ? { jobMayExist } : {}),
		// Whoever tries again what may have worked has two jobs.
		saysTryAgain: jobMayExist === true ? false : advice.includes('Try again'),
	};
}

function patternOf(text: string): RegExp {
	const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	return new RegExp(`^${parts.join('\\d+')}$`);
}

/** What a result must be, unless the fault was a good answer of another kind. */
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

/** How many jobs a create may have made. */
function expectJobs(
	count: number,
	{ fault, isError, cell }: { fault: Fault; isError: boolean; cell: Row['create'] },
): void {
	const hasActed = !isError || ('when' in fault && fault.when === 'afterActing');
	expect(count).toBe(hasActed ? 1 : 0);
	if (isError && count > 0) expect(cell.jobMayExist).toBe(true);
}
