import type { IDataObject, IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import type { ListTask, Target, Task } from '../case';
import { PlainCredential } from '../engine/plainCredential';
import type { WorkflowNode } from '../engine/run';
import { handWritten } from './handWritten';
import { bodyFor, createPath, listPath } from './job';

const AT_ONCE = 10;

/**
 * Returns a contender that only calls the engine's request helper and checks nothing. It shows how fast a node can be
 * in n8n that creates ten jobs at a time.
 * @param displayName the display name of the jobs: an expression, which the engine evaluates for each item, or a text,
 * to which the number of the item is appended
 * @param credential the type of the credential that logs in and signs the requests. Without it, the contender logs in
 * once, and adds the token to its requests.
 */
export function bareHelper(
	displayName: string,
	credential?: string,
): (task: Task, target: Target) => WorkflowNode {
	return (task, target) =>
		handWritten(
			{ displayName },
			async function () {
				const send =
					credential === undefined ? await logIn(this, target) : sendWith(this, credential, target);
				const results = task.kind === 'list' ? await list(send, task) : await create(this, send);
				return [results.map((json, item) => ({ json, pairedItem: { item } }))];
			},
			credential,
		);
}

type Send = (options: IHttpRequestOptions) => Promise<unknown>;

async function logIn(context: IExecuteFunctions, target: Target): Promise<Send> {
	const { url, userName, password } = target;
	const account = { baseUrl: url, userName, password };
	const { accessToken } = await new PlainCredential().preAuthentication.call(context, account);
	const headers = { Authorization: `Bearer ${accessToken}` };
	return async (options) =>
		await context.helpers.httpRequest({ ...options, url: url + options.url, headers, json: true });
}

function sendWith(context: IExecuteFunctions, credential: string, { url }: Target): Send {
	const { httpRequestWithAuthentication } = context.helpers;
	return async (options) =>
		await httpRequestWithAuthentication.call(context, credential, {
			...options,
			url: url + options.url,
			json: true,
		});
}

async function create(context: IExecuteFunctions, send: Send): Promise<IDataObject[]> {
	const name = String(context.getNode().parameters.displayName);
	const names = context
		.getInputData()
		.map(({ json }, item) =>
			name.startsWith('=')
				? String(context.getNodeParameter('displayName', item))
				: `${name} ${String(json.n)}`,
		);
	const jobs: IDataObject[] = [];
	const waiting = names.entries();
	const worker = async () => {
		for (const [item, displayName] of waiting) {
			const body = bodyFor(displayName);
			jobs[item] = (await send({ method: 'POST', url: createPath, body })) as IDataObject;
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
	return jobs;
}

async function list(send: Send, { pageSize }: ListTask): Promise<IDataObject[]> {
	const clusters: IDataObject[] = [];
	let token: string | undefined;
	do {
		const qs = { 'ListOption.limit': pageSize, ...(token && { 'ListOption.continue': token }) };
		const page = (await send({ method: 'GET', url: listPath, qs })) as {
			items: IDataObject[];
			metadata: { continue?: string };
		};
		clusters.push(...page.items);
		token = page.metadata.continue;
	} while (token !== undefined);
	return clusters;
}
