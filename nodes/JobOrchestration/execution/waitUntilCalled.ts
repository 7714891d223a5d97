import type {
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

import { FieldError } from '../parameters/fieldValue';
import { logForUser } from './cancel';
import type { CreatedJob } from './itemOutcome';

/** The call that ends the wait: a POST to n8n's resume address, answered with 202 and an empty body. */
export const webhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		path: '',
		responseMode: 'onReceived',
		responseCode: '={{ 202 }}',
		responseData: 'noData',
		restartWebhook: true,
		isFullPath: true,
	},
];

/** n8n's address for resuming this execution. @throws FieldError if there are more items: an execution has one address */
export function resumeUrlOf(context: IExecuteFunctions): string {
	const count = context.getInputData().length;
	if (count > 1) {
		throw new FieldError(
			'Wait Until Called',
			`takes one item per execution, not ${count}`,
			"Put a Loop Over Items node before this node, or start a sub-workflow for each item, as the example 'continue-when-done' does.",
		);
	}
	return String(context.evaluateExpression('{{ $execution?.resumeUrl }}', 0) ?? '');
}

/**
 * Has n8n wait for the call. n8n doesn't run the node again: it passes on what stands in the node's stack entry, which
 * is the job with the call's body (`receiveCall`), or without one after the limit.
 */
export async function waitForCall(
	context: IExecuteFunctions,
	output: INodeExecutionData[],
	{ job, limitMs }: { job: CreatedJob; limitMs: number },
): Promise<void> {
	// A cancel of the wait drops the output, and with it the job's ID.
	const name = `${job.shownUid} ('${job.displayName}' in namespace '${job.namespace}')`;
	logForUser(context, 'info', `waits for the call of job ${name}`);
	context.getExecuteData().data.main = [output];
	context.getContext('node').job = output[0]?.json;
	await context.putExecutionToWait(new Date(Date.now() + limitMs));
}

/** The node's output once its job has called. */
export async function receiveCall(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const name = JSON.stringify(context.getNode().name);
	const job = context.evaluateExpression(`{{ $node[${name}].context.job }}`) as object;
	const json = { ...job, callback: context.getBodyData() };
	return await Promise.resolve({ workflowData: [[{ json, pairedItem: { item: 0 } }]] });
}
