import { readFile } from 'node:fs/promises';

import type { WorkflowNode } from '../../host/api';
import { inARow, manualTrigger, node } from '../../host/workflow';
import { soon, start, useHost, type Ended, type Started } from './host';
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

const host = useHost('waitUntilCalled');

const jobIdOf = (displayName: string) =>
	[...host.sandbox.store.jobs.values()].find((job) => job.displayName === displayName)?.uid ?? '';

const trigger = manualTrigger();
const next = node('Next', 'n8n-nodes-base.noOp', {});
const wait = node(
	'Wait',
	'n8n-nodes-base.wait',
	{ resume: 'webhook', httpMethod: 'POST' },
	{ typeVersion: 1.1, webhookId: 'wait-until-called' },
);

/** Returns a node that creates a job and waits for its call. */
const create = (
	displayName: string,
	waitLimit: number | string = 60,
	more: Partial<WorkflowNode> = {},
) => createNode(displayName, { options: { waitUntilCalled: 'callbackUrl', waitLimit } }, more);

/** Waits for the create of a job, and returns the address that the job should call. */
const addressOf = async (displayName: string): Promise<string> =>
	await soon(() =>
		createsIn(host.sandbox)
			.filter((job) => job.displayName === displayName)
			.map(addressIn)
			.at(0),
	);

/** Returns the jobs and the bodies of their calls, as a node gets them. */
const callbacksIn = ({ output }: Ended, name = 'Next') =>
	output[name]?.map(({ displayName, callback }) => ({ displayName, callback }));

const stop = async ({ id }: Started) => await host.api.call('POST', `/rest/executions/${id}/stop`);

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

	const cases: Array<[what: string, Call, callback: unknown]> = [
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

	test('for every content type', async () => {
		const names = JSON.stringify(cases.map(([what]) => what));
		const execution = await start(host, inALoop(trigger, names, create('={{ $json.rows }}')));
		for (const [what, request] of cases) await callUntilTaken(await addressOf(what), request);
		expect(callbacksIn(await execution.end())).toEqual(
			cases.map(([displayName, , callback]) => ({ displayName, callback })),
		);
	});

	test('for every name of the node', async () => {
		const names = ['a }} b {{ $json }}', `it's "x" \\ \`\``, 'constructor'];
		const nodes = names.map((name, n) => create(`Job ${n}`, 60, { name }));
		const execution = await start(host, inARow('Names', [trigger, ...nodes]));
		for (const n of names.keys()) await callUntilTaken(await addressOf(`Job ${n}`), json(n));
		const ended = await execution.end();
		expect(names.map((name) => callbacksIn(ended, name))).toEqual(
			names.map((_, n) => [{ displayName: `Job ${n}`, callback: n }]),
		);
	});
});

test('a call that the execution does not wait for gets 409, and the execution waits for the next job', async () => {
	// Only the first of the two rounds has a short limit. With an error output, n8n handles the output in another way.
	const limit = '={{ $json.rows === "A" ? 0.02 : 60 }}';
	const creating = create('=Late {{ $json.rows }}', limit, { onError: 'continueErrorOutput' });
	const late = await start(host, inALoop(trigger, '["A", "B"]', creating));
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
	expect(callbacksIn(await late.end())).toEqual([
		{ displayName: 'Late A', callback: null },
		{ displayName: 'Late B', callback: 'B' },
	]);
});

test('a late call does not resume a later Wait node', async () => {
	const execution = await start(host, inARow('Wait', [trigger, create('Then a wait'), wait, next]));
	const address = await addressOf('Then a wait');
	await callUntilTaken(address);
	await soon(async () => (await host.api.executionResult(execution.id)).output['Wait'] && true);
	await execution.reaches('waiting');
	expect(await call(address)).toBeGreaterThanOrEqual(400);
	expect(await execution.reaches('waiting')).toBe('waiting');
	await stop(execution);
});

test("a cancel ends the wait, and the job's ID stays in the highlighted data and in n8n's log", async () => {
	const execution = await start(host, inARow('Cancel', [trigger, create('Cancelled'), next]));
	await execution.reaches('waiting');
	// The name of the workflow and the field of the node aren't data of the execution.
	const { workflowData: _, ...redacted } = JSON.parse(
		await host.api.redactedExecution(execution.id),
	) as Record<string, unknown>;
	expect(JSON.stringify(redacted)).toContain(jobIdOf('Cancelled'));
	expect(JSON.stringify(redacted)).not.toContain("'Cancelled'");
	const address = await addressOf('Cancelled');
	await stop(execution);
	await execution.reaches('canceled');
	const { customData } = await host.api.execution(execution.id);
	expect(customData).toEqual({ job: jobIdOf('Cancelled') });
	const log = await readFile(host.logFile, 'utf8');
	const job = `${jobIdOf('Cancelled')} ('Cancelled' in namespace 'default')`;
	expect(log).toContain(`waits for the call of job ${job}`);
	expect(await call(address)).toBe(409);
	expect(await execution.reaches('canceled')).toBe('canceled');
});
