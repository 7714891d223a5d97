import { readFile } from 'node:fs/promises';

import type { WorkflowFile, WorkflowNode } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import type { Host } from '../../host/host';
import type { RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, node } from '../../host/workflow';
import { Client } from '../sandbox/client';
import { isNewest, restart, START_TIMEOUT, startTestHost } from './host';
import { inALoop } from './workflows';

/* Create with Wait Until Called, in a real n8n: an execution continues with what its own job says, and nothing else. */

let host: Host;
let restarted: RunningN8n | undefined;

beforeAll(async () => {
	host = await startTestHost('wait');
}, START_TIMEOUT);

afterAll(async () => {
	await restarted?.stop();
	await host?.stop();
});

beforeEach(() => host.sandbox.clearCalls());

/** n8n looks once a minute for what waits, so a limit of a second is over after up to a minute. */
const SLOWEST_MS = 80_000;

const creates = () => host.sandbox.calls.filter(({ operation }) => operation === 'createJob');
const lastJob = () => [...host.sandbox.store.jobs.keys()].at(-1) ?? '';

const trigger = node(
	'Every night',
	'n8n-nodes-base.scheduleTrigger',
	{ rule: { interval: [{}] } },
	{ typeVersion: 1.2 },
);
const next = node('Next', 'n8n-nodes-base.noOp', {});

interface Create {
	name?: string;
	/** The job calls when it has run this long. Without it, the test calls in its place. */
	seconds?: string;
	limit?: number;
	displayName?: string;
	settings?: Record<string, unknown>;
}

function create({ name = 'Create', seconds, limit = 60, ...more }: Create = {}): WorkflowNode {
	const parameters = {
		resource: 'job',
		operation: 'create',
		namespace: 'default',
		workflowUid: seconds === undefined ? 'template-1' : 'call-when-done',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		displayName: more.displayName ?? 'Report',
		inputs: { input: seconds === undefined ? [] : [{ id: 'seconds', value: seconds }] },
		outputs: { output: [{ id: 'report', value: 'alder.pdf' }] },
		options: { waitUntilCalled: 'callbackUrl', waitLimit: limit },
	};
	return jobNode(name, parameters, more.settings);
}

interface Started {
	id: string;
	workflowId: string;
	/** Waits for one of these statuses. */
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
		retry: async ({ savedWorkflow }) => {
			const path = `/rest/executions/${id}/retry`;
			const retried = await host.api.call<{ id: string }>('POST', path, {
				loadWorkflow: savedWorkflow,
			});
			return follow(workflowId, retried.id);
		},
	};
}

interface NewJobBody {
	job: { inputs?: Array<{ id: string; default?: string }> };
}

/** The address that a job was given, by its number in the test. */
async function addressOf(jobNumber: number): Promise<string> {
	const address = await waitFor(
		() => {
			const { body } = creates()[jobNumber] ?? {};
			const { inputs = [] } = (body as NewJobBody | undefined)?.job ?? {};
			return inputs.find(({ id }) => id === 'callbackUrl')?.default;
		},
		{ timeout: SLOWEST_MS },
	);
	if (address === undefined) throw new Error(`There is no job ${jobNumber}`);
	return address;
}

type Call = NonNullable<Parameters<typeof fetch>[1]>;

const json = (body: unknown): Call => ({
	headers: { 'content-type': 'application/json' },
	body: JSON.stringify(body),
});

/** Calls n8n once. @returns the status of its answer */
async function call(address: string, request: Call = json({ from: 'job' })): Promise<number> {
	const { status } = await fetch(address, { method: 'POST', ...request });
	return status;
}

/** Calls n8n as a job does: until the call is taken. An execution that is called as it begins to wait refuses. */
async function callUntilTaken(address: string, request?: Call): Promise<void> {
	const taken = await waitFor(async () => (await call(address, request)) === 202 || undefined, {
		timeout: SLOWEST_MS,
	});
	if (taken === undefined) throw new Error(`n8n never took the call of ${address}`);
}

const called = {
	displayName: 'Report',
	callback: expect.objectContaining({ state: 'succeeded', outputs: { report: 'alder.pdf' } }),
};

test('the next node has the job and the body of its call', async () => {
	const execution = await start(inARow('One', [trigger, create({ seconds: '1' }), next]));
	expect(await execution.reaches('success', 'error')).toBe('success');
	const { output } = await execution.result();
	expect(output['Next']).toEqual([expect.objectContaining(called)]);
	expect(creates()).toHaveLength(1);
});

test.each(['a }} b', '{{ $json }}', 'constructor', `it's "x" \\ \``])(
	'a node named %s continues as well',
	async (name) => {
		const execution = await start(inARow('Name', [trigger, create({ name }), next]));
		await execution.reaches('waiting');
		expect(await call(await addressOf(0))).toBe(202);
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect((await execution.result()).output['Next']).toEqual([
			expect.objectContaining({ callback: { from: 'job' } }),
		]);
	},
);

describe('what the job says', () => {
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
	const image = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);

	test.each<[string, Call, unknown]>([
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
		['text in Latin-1', typed('text/plain; charset=latin1', Uint8Array.from([0xe4])), 'ä'],
		['nothing', {}, {}],
		['an image', typed('image/png', image), { contentType: 'image/png', bytes: 6 }],
		[
			'a multipart form',
			form({ state: 'done', log: new Blob(['abc'], { type: 'text/x-log' }) }),
			{ state: 'done', log: [{ contentType: 'text/x-log', bytes: 3 }] },
		],
	])('%s', async (_, request, callback) => {
		const execution = await start(inARow('Body', [trigger, create(), next]));
		await execution.reaches('waiting');
		expect(await call(await addressOf(0), request)).toBe(202);
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect((await execution.result()).output['Next']).toEqual([
			expect.objectContaining({ displayName: 'Report', callback }),
		]);
	});
});

describe('a call that is not the one waited for', () => {
	const jobs = (result: ExecutionResult) =>
		result.output['Next']?.map(({ displayName, callback }) => ({ displayName, callback }));

	test('the repeated call of an earlier round gets 409, and the round continues with its own', async () => {
		const execution = await start(
			inALoop(trigger, '["A", "B"]', create({ displayName: '=Report {{ $json.rows }}' })),
		);
		const first = await addressOf(0);
		await callUntilTaken(first, json('A'));
		const second = await addressOf(1);
		await execution.reaches('waiting');
		for (const address of [
			first,
			second.replace(/call=/, 'call=x'),
			second.replace(/&?call=[^&]*/, ''),
		]) {
			expect(await call(address, json('wrong'))).toBe(409);
		}
		// n8n 1.x doesn't check its signature of the address for a node like this one.
		if (second.includes('signature=')) {
			expect(await call(second.replace(/signature=/, 'signature=x'), json('wrong'))).toBe(401);
		}
		expect(await execution.reaches('waiting')).toBe('waiting');
		await callUntilTaken(second, json('B'));
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect(jobs(await execution.result())).toEqual([
			{ displayName: 'Report A', callback: 'A' },
			{ displayName: 'Report B', callback: 'B' },
		]);
	});

	test('a call after its limit, while the next job is waited for, gets 409', async () => {
		const name = '=Report {{ $json.rows }}';
		const limit = '={{ $json.rows === "A" ? 0.02 : 60 }}';
		const creating = create({ displayName: name });
		creating.parameters['options'] = { waitUntilCalled: '', waitLimit: limit };
		const execution = await start(inALoop(trigger, '["A", "B"]', creating));
		const first = await addressOf(0);
		const second = await addressOf(1);
		await execution.reaches('waiting');
		expect(await call(first, json('late'))).toBe(409);
		await callUntilTaken(second, json('B'));
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect(jobs(await execution.result())).toEqual([
			{ displayName: 'Report A', callback: null },
			{ displayName: 'Report B', callback: 'B' },
		]);
	});

	test('a late call does not answer a Wait node further on', async () => {
		const wait = node(
			'Wait',
			'n8n-nodes-base.wait',
			{ resume: 'webhook', httpMethod: 'POST' },
			{ typeVersion: 1.1, webhookId: 'wait-until-called' },
		);
		const execution = await start(inARow('Wait', [trigger, create(), wait, next]));
		await execution.reaches('waiting');
		const address = await addressOf(0);
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

test('after the limit, the job leaves with no callback, whatever On Error is', async () => {
	const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];
	// All begin before n8n looks for the first time.
	const executions = [];
	for (const onError of onErrors) {
		const creating = create({ limit: 0.02, settings: { onError } });
		executions.push(await start(inARow(`Limit, ${onError}`, [trigger, creating, next])));
	}
	for (const execution of executions) {
		expect(await execution.reaches('success', 'error')).toBe('success');
		expect((await execution.result()).output['Next']).toEqual([
			expect.objectContaining({ displayName: 'Report', callback: null }),
		]);
	}
});

test('a cancel ends the wait, and Retry creates no second job', async () => {
	const execution = await start(inARow('Cancel', [trigger, create(), next]));
	const highlighted = async () => (await host.api.execution(execution.id)).customData;
	const job = () => ({ job: `${lastJob()} ('Report' in namespace 'default')` });
	expect(await execution.reaches('waiting')).toBe('waiting');
	// n8n 1.x gives nodes no access to it.
	if (isNewest) expect(await highlighted()).toEqual(job());
	const address = await addressOf(0);
	await host.api.call('POST', `/rest/executions/${execution.id}/stop`);
	expect(await execution.reaches('canceled')).toBe('canceled');
	if (isNewest) expect(await highlighted()).toEqual(job());
	const log = await readFile(host.n8n.logFile, 'utf8');
	expect(log).toContain(`waits for the call of job ${lastJob()} ('Report' in namespace`);
	expect(await call(address)).toBe(409);
	expect(await execution.reaches('canceled')).toBe('canceled');
	for (const savedWorkflow of [false, true]) {
		const { result, reaches } = await execution.retry({ savedWorkflow });
		await reaches('success', 'error');
		expect((await result()).output['Next']).toEqual([
			expect.objectContaining({ displayName: 'Report', callback: null }),
		]);
	}
	expect(creates()).toHaveLength(1);
});

test('n8n is restarted while it waits, and continues', async () => {
	const execution = await start(inARow('Restart', [trigger, create({ seconds: '2' }), next]));
	// Suspended, so that it doesn't call before n8n is back.
	const client = new Client(host.sandbox);
	await client.login();
	await addressOf(0);
	await client.change('suspend', lastJob());
	expect(await execution.reaches('waiting')).toBe('waiting');
	await host.n8n.stop();
	restarted = await restart(host, 'wait');
	await client.change('resume', lastJob());
	expect(await execution.reaches('success', 'error', 'crashed')).toBe('success');
	expect((await execution.result()).output['Next']).toEqual([expect.objectContaining(called)]);
	expect(creates()).toHaveLength(1);
}, 120_000);
