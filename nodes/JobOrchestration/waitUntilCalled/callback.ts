import { randomUUID } from 'node:crypto';

import type {
	GenericValue,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

import { isJsonObject } from '../json';
import { FieldError } from '../parameters/fieldError';
import { asPlainText, nameOf, type NamedJob, nameOfExecution } from '../texts';

/*
 * Wait Until Called: the execution waits until its job calls it back. What n8n does about it:
 *
 * - All waits of an execution share one resume address, those of a loop's rounds and of other nodes too. So each gets a
 *   path and a random ID of its own; any other call gets a 409, and the execution waits on.
 * - It doesn't run the node again. The output is the item in the node's stack entry: the one that `execute` leaves there,
 *   or the one that `webhook` returns.
 * - `webhook` can read that item (`$thisItem`). What needs the node's name in an expression fails for a name like `a }} b`.
 */

const PATH = 'job-called';

/** The field of the waiting item, beside its JSON, that holds the callback's ID. */
const CALLBACK_ID = 'callbackId';

/** The job's call of n8n, for which the execution waits until `limitMs` are over. */
export interface Callback {
	/** A random part of the address: what tells it from any other call. */
	id: string;
	/** The address that the job is to call. */
	url: string;
	limitMs: number;
}

/** A callback is a POST, answered with 202 and an empty body. */
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

/** A callback with an address that no other wait has. @throws FieldError if there are several items */
export function newCallback(context: IExecuteFunctions, limitMs: number): Callback {
	const count = context.getInputData().length;
	if (count > 1) {
		throw new FieldError(
			'Wait Until Called',
			`takes one item per execution, not ${count}`,
			"Put a Loop Over Items node before this node, or start a sub-workflow for each item, as the example 'continue-when-done' does.",
		);
	}
	const id = randomUUID();
	const resumeUrl = String(context.evaluateExpression('{{ $execution?.resumeUrl }}', 0) ?? '');
	const [address, query] = resumeUrl.split('?');
	const parameters = [...(query === undefined ? [] : [query]), `call=${id}`];
	return { id, url: `${address}/${PATH}?${parameters.join('&')}`, limitMs };
}

/** Has n8n wait for the callback. @returns the output; in a retry of a resumed execution, the item that resumed it */
export async function waitForCallback(
	context: IExecuteFunctions,
	output: INodeExecutionData[],
	{ callback: { id, limitMs }, job }: { callback: Callback; job: NamedJob & { uid: string } },
): Promise<INodeExecutionData[]> {
	const input = context.getInputData().filter((item) => item[CALLBACK_ID] === id);
	if (input.length > 0) return input;
	// A cancel of the wait drops the output, and with it the job's ID. n8n's redaction covers neither its highlighted data
	// nor hints, so they have the ID alone. n8n 1.x has no highlighted data here.
	if ('customData' in context) context.customData.set('job', job.uid);
	const text = `${nameOfExecution(context)} waits for the call of job ${job.uid} (${nameOf(job)})`;
	context.logger.info(text);
	context.sendMessageToUI(text);
	const message = asPlainText(
		`Job ${job.uid} was created. A cancel ends the wait for its call, not the job, whose ID is then in n8n's log and in the browser's console.`,
	);
	context.addExecutionHints({ message, type: 'info', location: 'outputPane' });
	await context.putExecutionToWait(new Date(Date.now() + limitMs));
	// Last: a try that failed before this waits again. A copy: with an error output, n8n empties the list it is given.
	context.getExecuteData().data.main = [output.map((item) => ({ ...item, [CALLBACK_ID]: id }))];
	return output;
}

/** Resumes the execution if the call is the one that it waits for. */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const item: unknown = context.evaluateExpression('{{ $thisItem }}');
	const query: unknown = context.getQueryData();
	const { json: output, [CALLBACK_ID]: id } = isJsonObject(item) ? item : {};
	const { call } = isJsonObject(query) ? query : {};
	if (!isJsonObject(output) || typeof id !== 'string' || call !== id) {
		const message = 'The execution does not wait for this call';
		context.getResponseObject().status(409).json({ message });
		return { noWebhookResponse: true };
	}
	const json = { ...output, callback: await readBody(context) };
	return { workflowData: [[{ json, pairedItem: { item: 0 }, [CALLBACK_ID]: id }]] };
}

/**
 * The body of a callback. JSON is parsed with any content type: a job's template rarely sets it right, and n8n
 * would lose the result. Never null, which means that no call came.
 *
 * @returns text that isn't JSON as it is, a form's fields, `{}` for no body, `{ contentType, bytes }` for what isn't text
 */
async function readBody(context: IWebhookFunctions): Promise<GenericValue> {
	const contentType = context.getHeaderData()['content-type'] ?? '';
	if (/^multipart\/form-data/i.test(contentType)) return fieldsOf(context.getBodyData());

	// The encoding is the charset that the content type names.
	const request: { readRawBody: () => Promise<void>; rawBody?: Uint8Array; encoding?: string } =
		context.getRequestObject();
	await request.readRawBody();
	const bytes = request.rawBody ?? new Uint8Array();
	const text = decode(bytes, 'utf-8') ?? decode(bytes, request.encoding);
	if (text === undefined) return { contentType, bytes: bytes.length };
	if (text.trim() === '') return {};
	try {
		const json: GenericValue = JSON.parse(text);
		return json ?? {};
	} catch {
		const isForm = /^application\/x-www-form-urlencoded/i.test(contentType) && text.includes('=');
		return isForm ? { ...context.getBodyData() } : text;
	}
}

function decode(bytes: Uint8Array, charset?: string): string | undefined {
	try {
		const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
		return text.includes('\0') ? undefined : text;
	} catch {
		return undefined;
	}
}

/** A multipart form: n8n has put its files into temporary ones, whose paths are not shown. */
function fieldsOf({ data, files }: IDataObject): GenericValue {
	const entries = Object.entries(isJsonObject(files) ? files : {});
	const sizes = entries.map(([name, file]) => [name, [file].flat().map(sizeOf)]);
	return { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(sizes) };
}

function sizeOf(file: unknown): GenericValue {
	const { mimetype, size } = isJsonObject(file) ? file : {};
	return { contentType: mimetype, bytes: size };
}
