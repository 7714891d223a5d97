import { randomUUID } from 'node:crypto';

import type {
	GenericValue,
	IExecuteFunctions,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import { FieldError } from './fields/expressions';
import { type Added, id, number } from './fields/form';
import { isJsonObject, type JsonObject } from './json';
import { asPlainText, type CreatedJob, nameOf, nameOfExecution } from './texts';

/*
 * Wait Until Called: the execution waits until its job calls it back.
 *
 * 1. Create calls `newCallback` for an address, and gives the address to the job as an input.
 * 2. Once the job is created, the run calls `waitForCallback`, which makes n8n store the execution and wait.
 * 3. The job's template calls the address. n8n passes the call to the node's `webhook`, which is `receiveCallback`.
 * 4. `receiveCallback` returns the job with the call's body as `callback`, and n8n continues with the next node. If no
 *    call comes in time, n8n continues with the output that the run returned, in which `callback` is null.
 *
 * n8n behaves as follows:
 *
 * - All waits of an execution share one resume address, including the waits of other nodes and of the rounds of a loop.
 *   So this node adds a path to the address, and a random ID for each wait. Any other call gets a 409, and the
 *   execution continues to wait.
 * - n8n doesn't run the node again after the wait. The output is the item in the node's stack entry: either the item
 *   that `execute` leaves there, or the item that `webhook` returns.
 * - `webhook` can read that item as `$thisItem`. Expressions that need the node's name fail for a name like `a }} b`.
 */

const PATH = 'job-called';

/**
 * The field of the waiting item's `pairedItem` that has the callback's ID. In the item's JSON, users would see it, and
 * n8n's Code node refuses an item with another field beside its JSON.
 */
const CALLBACK_ID = 'callbackId';

/** Returns the `pairedItem` of an item that waits for a callback. */
const pairedWith = (callbackId: string) => ({ item: 0, [CALLBACK_ID]: callbackId });

const ADDRESS_INPUT = 'callbackUrl';
const LIMIT_MINUTES = 60;

/**
 * The options that make Create wait until the job's template calls n8n. They are not offered to agents, because an
 * agent's tools can't wait.
 */
export const callbackOptions = [
	number('Wait Limit', 'waitLimit', {
		// A year is the maximum, because n8n would wait for ever for a date that it can't store, after the job has been
		// created.
		typeOptions: { minValue: 0, maxValue: 365 * 24 * 60 },
		default: LIMIT_MINUTES,
		hint: 'In minutes',
		description:
			'How long Wait Until Called waits for the call; an hour without this option. It has no effect without Wait Until Called.',
		displayOptions: { hide: { '@tool': [true] } },
	}),
	id('Wait Until Called', 'waitUntilCalled', {
		default: ADDRESS_INPUT,
		hint: 'The workflow template must POST its result to the address in this input. The output "callback" is null if no call comes within Wait Limit.',
		description:
			'ID of the job\'s input that receives an address of n8n. The execution waits until the job calls it. Takes one item per execution. The output is the job with the call\'s body as "callback".',
		displayOptions: { hide: { '@tool': [true] } },
	}),
];

/** The text that n8n's editor shows while the execution waits, as an expression. The editor takes it for HTML. */
export const waitingNodeTooltip = `={{ ((job, { waitUntilCalled: input, waitLimit: limit }) => "Waiting for job '" + String(job).replaceAll('<', '‹') + "' to POST its result to the address in its input '" + (String(input ?? '').trim() || '${ADDRESS_INPUT}').replaceAll('<', '‹') + "', for " + Number(limit ?? ${LIMIT_MINUTES}) + " minutes at most.")($parameter.displayName, $parameter.options) }}`;

/** The webhook for callbacks. A callback is a POST request, and n8n answers it with 202 and an empty body. */
export const webhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		path: PATH,
		responseMode: 'onReceived',
		responseCode: '={{ 202 }}',
		responseData: 'noData',
		restartWebhook: true,
		isFullPath: true,
	},
];

/**
 * The call by which a job resumes an execution. `id` is the random part of the address `url`, and distinguishes this
 * callback from any other call. The job's input `inputId` receives the address.
 */
export type Callback = NonNullable<ReturnType<typeof newCallback>>;

/**
 * Returns a callback with an address that no other wait has.
 *
 * @param inputs the inputs that the job already has
 * @returns undefined if the option is not added
 * @throws FieldError
 */
export function newCallback(
	context: IExecuteFunctions,
	{ waitUntilCalled, waitLimit = LIMIT_MINUTES }: Added<typeof callbackOptions>,
	inputs: JsonObject[],
) {
	if (waitUntilCalled === undefined) return undefined;
	const inputId = waitUntilCalled || ADDRESS_INPUT;
	if (inputs.some((other) => String(other.id).trim() === inputId)) {
		const problem = `is "${inputId}", which is already an input of the job`;
		const advice = 'Remove that input, or enter the ID of another one.';
		throw new FieldError('Wait Until Called', problem, advice);
	}
	const count = context.getInputData().length;
	if (count > 1) {
		const advice =
			"Put a Loop Over Items node before this node, or start a sub-workflow for each item, as the example 'continue-when-done' does.";
		throw new FieldError('Wait Until Called', `takes one item per execution, not ${count}`, advice);
	}
	const callId = randomUUID();
	const resumeUrl = String(context.evaluateExpression('{{ $execution?.resumeUrl }}', 0) ?? '');
	const [address, query = ''] = resumeUrl.split('?');
	const url = `${address}/${PATH}?${query && `${query}&`}call=${callId}`;
	return { id: callId, url, inputId, limitMs: waitLimit * 60_000 };
}

/**
 * Makes n8n wait for the callback.
 *
 * @param output the JSON of the output if no call comes
 * @param isOfEarlierRun whether an earlier run has created the job
 * @returns the output if the job has already called, and n8n retries the execution that its call has resumed: this item
 * is then the input. Undefined if n8n waits
 */
export async function waitForCallback(
	context: IExecuteFunctions,
	output: JsonObject,
	{
		callback: { id, limitMs },
		job,
		isOfEarlierRun,
	}: { callback: Callback; job: CreatedJob; isOfEarlierRun: boolean },
): Promise<JsonObject | undefined> {
	// n8n replaces the `pairedItem` of the input, so the item is recognised by the job.
	const input = context.getInputData()[0]?.json ?? {};
	const { uid }: { uid?: unknown } = Object(input.metadata);
	if (isOfEarlierRun && 'callback' in input && String(uid) === job.uid) return input;
	// A cancel of the wait drops the output, and with it the job's ID. So the ID is also written to n8n's highlighted
	// data and to a hint. n8n's redaction covers neither of them, so they contain nothing about the job but its ID. n8n
	// 1.x has no highlighted data here.
	if ('customData' in context) context.customData.set('job', job.shownUid);
	context.logger.info(
		`${nameOfExecution(context)} waits for the call of job ${job.shownUid} (${nameOf(job)})`,
	);
	const message = asPlainText(
		`If you cancel the execution, job ${job.shownUid} goes on. Its ID stays in n8n's log.`,
	);
	context.addExecutionHints({ message, type: 'info', location: 'outputPane' });
	await context.putExecutionToWait(new Date(Date.now() + limitMs));
	// This comes last, so that after a failure before this line the next try waits again.
	context.getExecuteData().data.main = [[{ json: output, pairedItem: pairedWith(id) }]];
	return undefined;
}

/** Resumes the execution if the call is the one that it waits for. Otherwise, answers the call with 409. */
export async function receiveCallback(this: IWebhookFunctions): Promise<IWebhookResponseData> {
	const item: unknown = this.evaluateExpression('{{ $thisItem }}');
	const { json: output, pairedItem } = isJsonObject(item) ? item : {};
	const { [CALLBACK_ID]: id }: { [CALLBACK_ID]?: unknown } = Object(pairedItem);
	const { call }: { call?: unknown } = Object(this.getQueryData());
	if (!isJsonObject(output) || typeof id !== 'string' || call !== id) {
		const message = 'The execution does not wait for this call';
		this.getResponseObject().status(409).json({ message });
		return { noWebhookResponse: true };
	}
	const json = { ...output, callback: await readBody(this) };
	return { workflowData: [[{ json, pairedItem: pairedWith(id) }]] };
}

/**
 * Returns the body of a callback. JSON is parsed whatever the content type is, because the templates of jobs rarely set
 * it correctly, and n8n would lose the result. The body is never null, because null means that no call came.
 *
 * @returns the parsed JSON, the unchanged text if it isn't JSON, the fields of a form, or `{}` if there is no body
 */
async function readBody(context: IWebhookFunctions): Promise<GenericValue> {
	const contentType = context.getHeaderData()['content-type'] ?? '';
	// n8n has already read a multipart form. Its files are paths in n8n's temporary folder, so they are not passed on.
	if (/^multipart\/form-data/i.test(contentType)) return context.getBodyData().data ?? {};
	const request: { readRawBody: () => Promise<void>; rawBody?: Uint8Array } =
		context.getRequestObject();
	await request.readRawBody();
	const text = new TextDecoder().decode(request.rawBody);
	if (text.trim() === '') return {};
	const isForm = /^application\/x-www-form-urlencoded/i.test(contentType) && text.includes('=');
	const fallbackValue: GenericValue = isForm ? { ...context.getBodyData() } : text;
	return jsonParse<GenericValue>(text, { fallbackValue }) ?? {};
}
