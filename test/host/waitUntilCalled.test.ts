import { readFile } from 'node:fs/promises';

import type { WorkflowFile, WorkflowNode } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import { waitFor } from '../../host/wait';
import { inARow, node } from '../../host/workflow';
import { pressRetry, useHost } from './host';
import { isNewest } from './setUp';
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

interface Create {
	name?: string;
	/** The number of seconds after which the job calls. If it is missing, the test calls instead of the job. */
	seconds?: string;
	limit?: number | string;
	settings?: Record<string, unknown>;
}

/** Returns a node that creates a job. The name must be unique among all tests. */
function create(
	displayName: string,
	{ name = 'Create', seconds, limit = 60, settings }: Create = {},
): WorkflowNode {
	const inputs = seconds === undefined ? [] : [{ id: 'seconds', value: seconds }];
	const parameters = {
		...(seconds !== undefined && { workflowUid: 'call-when-done' }),
		inputs: { input: inputs },
		outputs: { output: [{ id: 'report', value: 'alder.pdf' }] },
		options: { waitUntilCalled: 'callbackUrl', waitLimit: limit },
	};
	return createNode(displayName, parameters, { name, ...settings });
}

interface Started {
	id: string;
	workflowId: string;
	/** Waits until the execution has one of these statuses, and returns it. */
	reaches: (...statuses: string[]) => Promise<string>;
	result: () => Promise<ExecutionResult>;
	retry: (from: { savedWorkflow: boolean }) => Promise<Started>;
}

async function start(workflow: WorkflowFile): Promise<Started> {
	const saved = await host.api.createWorkflow(workflow);
	return follow(saved.id, await host.api.run(saved.id, 'Every night'));
}

function follow(workflowId: string, id: string): Started {
	return {
		id,
		workflowId,
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
		retry: async ({ savedWorkflow }) =>
			follow(workflowId, await pressRetry(host.api, id, savedWorkflow)),
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

/** Returns the input of the node after Create. */
const given = async ({ result }: Started) => (await result()).output['Next'];

const called = expect.objectContaining({
	callback: expect.objectContaining({ state: 'succeeded', outputs: { report: 'alder.pdf' } }),
}) as unknown;

/** Returns a loop with two rounds, of which only the first has a short limit. */
const limited = (name: string) =>
	inALoop(
		trigger,
		'["A", "B"]',
		create(`=${name} {{ $json.rows }}`, { limit: '={{ $json.rows === "A" ? 0.02 : 60 }}' }),
	);

const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];
let late: Started;
let past: Started[];

// The last tests check these executions. Meanwhile, the minute passes in which n8n notices that their limits are over.
beforeAll(async () => {
	late = await start(limited('Late'));
	past = await Promise.all(
		onErrors.map(async (onError) => {
			const creating = create(onError, { limit: 0.02, settings: { onError } });
			return await start(inARow(`Limit, ${onError}`, [trigger, creating, next]));
		}),
	);
});

test('the next node gets the job and the body of its call', async () => {
	const execution = await start(inARow('One', [trigger, create('One', { seconds: '1' }), next]));
	expect(await execution.reaches('success', 'error')).toBe('success');
	expect(await given(execution)).toEqual([called]);
	expect(createsOf('One')).toHaveLength(1);
});

describe('the body of the call is passed on', () => {
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

	const bodies: Array<[what: string, Call, unknown]> = [
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
	];
	const names = ['a }} b', '{{ $json }}', 'constructor', `it's "x" \\ \`\``];

	test('for every content type and every name of the node', async () => {
		const cases = [
			...bodies.map(([what, ...rest]) => ({ what, rest, name: 'Create' })),
			...names.map((name) => ({
				...{ what: `A node named ${name}`, name },
				rest: [json({ from: 'job' }), { from: 'job' }] as const,
			})),
		];
		const executions: Started[] = [];
		for (const { what, name } of cases) {
			executions.push(await start(inARow(what, [trigger, create(what, { name }), next])));
		}
		const found: unknown[] = [];
		for (const [n, execution] of executions.entries()) {
			const { what, rest } = cases[n] as (typeof cases)[number];
			await execution.reaches('waiting');
			expect([what, await call(await addressOf(what), rest[0])]).toEqual([what, 202]);
			await execution.reaches('success', 'error');
			found.push(
				(await given(execution))?.map(({ displayName, callback }) => [displayName, callback]),
			);
		}
		expect(found).toEqual(cases.map(({ what, rest }) => [[what, rest[1]]]));
	}, 300_000);
});

describe('a call that the execution does not wait for', () => {
	const jobs = async (execution: Started) =>
		(await given(execution))?.map(({ displayName, callback }) => ({ displayName, callback }));

	test('a repeated call of an earlier round gets 409, and the round continues with its own call', async () => {
		const execution = await start(
			inALoop(trigger, '["A", "B"]', create('=Repeated {{ $json.rows }}')),
		);
		const first = await addressOf('Repeated A');
		await callUntilTaken(first, json('A'));
		const second = await addressOf('Repeated B');
		await execution.reaches('waiting');
		for (const address of [
			first,
			second.replace(/call=/, 'call=x'),
			second.replace(/&?call=[^&]*/, ''),
		]) {
			expect(await call(address, json('wrong'))).toBe(409);
		}
		// n8n 1.x doesn't verify the signature in the address for a node like this one.
		if (second.includes('signature=')) {
			expect(await call(second.replace(/signature=/, 'signature=x'), json('wrong'))).toBe(401);
		}
		expect(await execution.reaches('waiting')).toBe('waiting');
		await callUntilTaken(second, json('B'));
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect(await jobs(execution)).toEqual([
			{ displayName: 'Repeated A', callback: 'A' },
			{ displayName: 'Repeated B', callback: 'B' },
		]);
	});

	test('a call after its limit gets 409 while the execution waits for the next job', async () => {
		const first = await addressOf('Late A');
		const second = await addressOf('Late B');
		await late.reaches('waiting');
		expect(await call(first, json('late'))).toBe(409);
		await callUntilTaken(second, json('B'));
		expect(await late.reaches('success', 'error')).toBe('success');
		expect(await jobs(late)).toEqual([
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
		expect(await given(execution)).toEqual([
			expect.objectContaining({ displayName: onErrors[n], callback: null }),
		]);
	}
});

test('a cancel ends the wait, and Retry creates no second job', async () => {
	const execution = await start(inARow('Cancel', [trigger, create('Cancelled'), next]));
	const highlighted = async () => (await host.api.execution(execution.id)).customData;
	expect(await execution.reaches('waiting')).toBe('waiting');
	// n8n 1.x gives nodes no access to the highlighted data.
	if (isNewest) {
		expect(await highlighted()).toEqual({ job: jobIdOf('Cancelled') });
		// The name of the workflow and the field of the node aren't data of the execution.
		const { workflowData: _, ...redacted } = JSON.parse(
			await host.api.redactedExecution(execution.id),
		) as Record<string, unknown>;
		expect(JSON.stringify(redacted)).toContain(jobIdOf('Cancelled'));
		expect(JSON.stringify(redacted)).not.toContain("'Cancelled'");
	}
	const address = await addressOf('Cancelled');
	await host.api.call('POST', `/rest/executions/${execution.id}/stop`);
	expect(await execution.reaches('canceled')).toBe('canceled');
	if (isNewest) expect(await highlighted()).toEqual({ job: jobIdOf('Cancelled') });
	const log = await readFile(host.logFile, 'utf8');
	const job = `${jobIdOf('Cancelled')} ('Cancelled' in namespace 'default')`;
	expect(log).toContain(`waits for the call of job ${job}`);
	expect(await call(address)).toBe(409);
	expect(await execution.reaches('canceled')).toBe('canceled');
	for (const savedWorkflow of [false, true]) {
		const retried = await execution.retry({ savedWorkflow });
		await retried.reaches('success', 'error');
		expect(await given(retried)).toEqual([
			expect.objectContaining({ displayName: 'Cancelled', callback: null }),
		]);
	}
	expect(createsOf('Cancelled')).toHaveLength(1);
});
