import { readFile } from 'node:fs/promises';

import type { WorkflowFile, WorkflowNode } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import { waitFor } from '../../host/wait';
import { inARow, node } from '../../host/workflow';
import { useHost } from './host';
import {
	addressIn,
	call,
	callUntilTaken,
	createNode,
	createsIn,
	inALoop,
	json,
	type Call,
} from './workflows';

/*
 * In a real n8n, an execution with Wait Until Called continues with the call of its own job, and with no other call.
 * restarts.test.ts tests waits that n8n's end interrupts.
 */

const host = useHost('wait');

/** n8n checks waiting executions once a minute, so it can take up to a minute until it notices that a limit is over. */
const SLOWEST_MS = 80_000;

/** Returns the jobs with this name that the creates asked for. */
const createsOf = (displayName: string) =>
	createsIn(host.sandbox).filter((job) => job.displayName === displayName);

const jobIdOf = (displayName: string) =>
	[...host.sandbox.store.jobs.values()].find((job) => job.displayName === displayName)?.uid ?? '';

const trigger = node(
	'Every night',
	'n8n-nodes-base.scheduleTrigger',
	{ rule: { interval: [{}] } },
	{ typeVersion: 1.2 },
);
const next = node('Next', 'n8n-nodes-base.noOp', {});

/** Returns a node that creates a job and waits for its call. The name of the job must be unique among all tests. */
const create = (
	displayName: string,
	limit: number | string = 60,
	more: Partial<WorkflowNode> = {},
) =>
	createNode(displayName, { options: { waitUntilCalled: 'callbackUrl', waitLimit: limit } }, more);

interface Started {
	id: string;
	/** Waits until the execution has one of these statuses, and returns it. */
	reaches: (...statuses: string[]) => Promise<string>;
	result: () => Promise<ExecutionResult>;
}

async function start(workflow: WorkflowFile): Promise<Started> {
	const { id: workflowId } = await host.api.createWorkflow(workflow);
	const id = await host.api.run(workflowId, 'Every night');
	return {
		id,
		reaches: async (...statuses) => {
			let status = '';
			await waitFor(
				async () => {
					const executions = await host.api.executions(workflowId);
					status = executions.find((one) => one.id === id)?.status ?? '';
					return statuses.includes(status) || undefined;
				},
				{ timeout: SLOWEST_MS },
			);
			return status;
		},
		result: async () => await host.api.executionResult(id),
	};
}

/** Waits for the create of a job, and returns the address that the job should call. */
async function addressOf(displayName: string): Promise<string> {
	const address = await waitFor(() => createsOf(displayName).map(addressIn)[0], {
		timeout: SLOWEST_MS,
	});
	if (address === undefined) throw new Error(`There is no job '${displayName}'`);
	return address;
}

/** Returns the jobs and the bodies of their calls, as the node after Create gets them. */
const callbacksIn = async ({ result }: Started) =>
	(await result()).output['Next']?.map(({ displayName, callback }) => ({ displayName, callback }));

const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];
let late: Started;
let past: Started[];

// The last tests check these executions. Meanwhile, the minute passes in which n8n notices that their limits are over.
beforeAll(async () => {
	// Only the first of the two rounds has a short limit.
	const creating = create('=Late {{ $json.rows }}', '={{ $json.rows === "A" ? 0.02 : 60 }}');
	late = await start(inALoop(trigger, '["A", "B"]', creating));
	past = await Promise.all(
		onErrors.map(async (onError) => {
			return await start(inARow(onError, [trigger, create(onError, 0.02, { onError }), next]));
		}),
	);
});

describe('The next node gets the job and the body of its call', () => {
	const form = (fields: Record<string, string | Blob>) => {
		const body = new FormData();
		for (const [name, value] of Object.entries(fields)) body.append(name, value);
		return { body };
	};
	const typed = (type: string, body: string | Uint8Array) => ({
		headers: type === '' ? {} : { 'content-type': type },
		body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
	});
	const result = JSON.stringify({ state: 'done', outputs: [{ id: 'ä' }] });
	const parsed = JSON.parse(result) as object;
	const curlForm = 'application/x-www-form-urlencoded';

	const cases: Array<[what: string, Call, callback: unknown, name?: string]> = [
		['JSON', typed('application/json', result), parsed],
		['JSON with a charset', typed('application/json; charset=utf-8', result), parsed],
		['a cloud event', typed('application/cloudevents+json', result), parsed],
		['JSON:API', typed('application/vnd.api+json', result), parsed],
		['JSON as octets', typed('application/octet-stream', result), parsed],
		['JSON without a type', typed('', result), parsed],
		['JSON as plain text', typed('text/plain', result), parsed],
		["JSON as curl's form", typed(curlForm, result), parsed],
		['JSON as XML', typed('application/problem+json', `\uFEFF${result}`), parsed],
		['JSON null', typed('application/json', 'null'), {}],
		['JSON false', typed('text/plain', 'false'), false],
		['text', typed('text/plain', 'done: ä'), 'done: ä'],
		['text without a type', typed('', 'done'), 'done'],
		["text as curl's form", typed(curlForm, 'done'), 'done'],
		['XML', typed('application/octet-stream', '<done/>'), '<done/>'],
		['a form', typed(curlForm, 'state=done&report=a%20b'), { state: 'done', report: 'a b' }],
		['nothing', {}, {}],
		[
			'a multipart form',
			form({ state: 'done', log: new Blob(['abc'], { type: 'text/x-log' }) }),
			{ state: 'done' },
		],
		['a node whose name has braces', json('done'), 'done', 'a }} b {{ $json }}'],
		['a node whose name has quotes', json('done'), 'done', `it's "x" \\ \`\``],
		['a node whose name is a property', json('done'), 'done', 'constructor'],
	];

	test('for every content type and every name of the node', async () => {
		const found = await Promise.all(
			cases.map(async ([what, request, , name = 'Create']) => {
				const execution = await start(inARow(what, [trigger, create(what, 60, { name }), next]));
				await execution.reaches('waiting');
				expect([what, await call(await addressOf(what), request)]).toEqual([what, 202]);
				await execution.reaches('success', 'error');
				return await callbacksIn(execution);
			}),
		);
		expect(found).toEqual(cases.map(([displayName, , callback]) => [{ displayName, callback }]));
	}, 300_000);
});

describe('a call that the execution does not wait for', () => {
	test('gets 409, and the execution waits for the next job', async () => {
		const first = await addressOf('Late A');
		const second = await addressOf('Late B');
		await late.reaches('waiting');
		for (const address of [
			// The limit of the first job is over.
			first,
			second.replace(/call=/, 'call=x'),
			second.replace(/&?call=[^&]*/, ''),
		]) {
			expect(await call(address, json('wrong'))).toBe(409);
		}
		expect(await call(second.replace(/signature=/, 'signature=x'), json('wrong'))).toBe(401);
		expect(await late.reaches('waiting')).toBe('waiting');
		await callUntilTaken(second, json('B'));
		expect(await call(second, json('repeated'))).not.toBe(202);
		expect(await late.reaches('success', 'error')).toBe('success');
		expect(await callbacksIn(late)).toEqual([
			{ displayName: 'Late A', callback: null },
			{ displayName: 'Late B', callback: 'B' },
		]);
	});

	test('a late call does not resume a later Wait node', async () => {
		const wait = node(
			'Wait',
			'n8n-nodes-base.wait',
			{ resume: 'webhook', httpMethod: 'POST' },
			{ typeVersion: 1.1, webhookId: 'wait-until-called' },
		);
		const execution = await start(inARow('Wait', [trigger, create('Then a wait'), wait, next]));
		await execution.reaches('waiting');
		const address = await addressOf('Then a wait');
		await callUntilTaken(address);
		await waitFor(async () => (await execution.result()).output['Wait'] && true, {
			timeout: 20_000,
		});
		await execution.reaches('waiting');
		const late = await call(address);
		expect(late).toBeGreaterThanOrEqual(400);
		expect(await execution.reaches('waiting')).toBe('waiting');
		await host.api.call('POST', `/rest/executions/${execution.id}/stop`);
	});
});

test('after the limit, the job is returned without a callback, for every setting of On Error', async () => {
	for (const [n, execution] of past.entries()) {
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect(await callbacksIn(execution)).toEqual([{ displayName: onErrors[n], callback: null }]);
	}
});

test("a cancel ends the wait, and the job's ID stays in the highlighted data and in n8n's log", async () => {
	const execution = await start(inARow('Cancel', [trigger, create('Cancelled'), next]));
	const highlighted = async () => (await host.api.execution(execution.id)).customData;
	expect(await execution.reaches('waiting')).toBe('waiting');
	// The name of the workflow and the field of the node aren't data of the execution.
	const { workflowData: _, ...redacted } = JSON.parse(
		await host.api.redactedExecution(execution.id),
	) as Record<string, unknown>;
	expect(JSON.stringify(redacted)).toContain(jobIdOf('Cancelled'));
	expect(JSON.stringify(redacted)).not.toContain("'Cancelled'");
	const address = await addressOf('Cancelled');
	await host.api.call('POST', `/rest/executions/${execution.id}/stop`);
	expect(await execution.reaches('canceled')).toBe('canceled');
	expect(await highlighted()).toEqual({ job: jobIdOf('Cancelled') });
	const log = await readFile(host.logFile, 'utf8');
	const job = `${jobIdOf('Cancelled')} ('Cancelled' in namespace 'default')`;
	expect(log).toContain(`waits for the call of job ${job}`);
	expect(await call(address)).toBe(409);
	expect(await execution.reaches('canceled')).toBe('canceled');
});
