import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { Workbench } from '../engine/workbench';
import { atOnce } from './atOnce';
import type { Contender } from './contender';
import { handWritten, textField } from './handWritten';
import { bodyFor, createPath, listPath, numbered } from './job';

const TYPE = 'bench.bareHelper';

/** The engine's request helper and nothing else: the limit inside n8n. */
export const bareHelper: Contender = {
	title: "the engine's bare helper",
	about:
		'A node of nothing but `helpers.httpRequest`, as many at once: no expression, no credential, no check. The limit inside n8n.',
	load: loadWith('Report'),
};

/** The same where each item's display name is an expression, as users have it. */
export const bareHelperWithExpression: Contender = {
	title: 'the bare helper and one expression',
	about:
		'The same, and one parameter read for each item before the requests: an expression, as the other nodes have it.',
	load: loadWith('=Report {{ $json.n }}'),
};

function loadWith(displayName: string): Contender['load'] {
	return async () => {
		const workbench = await Workbench.load({ [TYPE]: nodeType });
		return async (task, target) =>
			await workbench.run(
				{ type: TYPE, parameters: { ...target, ...task, displayName } },
				task.kind === 'create' ? numbered(task.count) : [{ json: {} }],
			);
	};
}

const nodeType = handWritten({
	name: 'bareHelper',
	properties: [
		...['url', 'userName', 'password', 'kind'].map(textField),
		...['count', 'concurrency', 'pageSize', 'displayName'].map(textField),
	],
	async execute() {
		const read = (name: string) => String(this.getNodeParameter(name, 0));
		const url = read('url');
		const headers = { Authorization: `Bearer ${await logIn(this, url)}` };
		if (read('kind') === 'list') {
			return [toItems(await allPages(this, url, headers, Number(read('pageSize'))))];
		}
		const names = displayNames(this);
		const jobs = await atOnce(names.length, Number(read('concurrency')), async (n) => {
			const body = bodyFor(names[n] ?? '');
			const options = { method: 'POST', url: url + createPath, headers, body, json: true } as const;
			return (await this.helpers.httpRequest(options)) as IDataObject;
		});
		return [toItems(jobs)];
	},
});

/** The name of each item's job; read through the engine only where it is an expression. */
function displayNames(context: IExecuteFunctions): string[] {
	const items = context.getInputData();
	const stored = String(context.getNode().parameters.displayName);
	return stored.startsWith('=')
		? items.map((_, n) => context.getNodeParameter('displayName', n) as string)
		: items.map(({ json }) => `${stored} ${String(json.n)}`);
}

async function logIn(context: IExecuteFunctions, url: string): Promise<string> {
	const read = (name: string) => context.getNodeParameter(name, 0) as string;
	const { access_token } = (await context.helpers.httpRequest({
		method: 'POST',
		url: `${url}/oauth/login`,
		body: { userName: read('userName'), password: read('password'), type: 'basic' },
		json: true,
	})) as { access_token: string };
	return access_token;
}

async function allPages(
	context: IExecuteFunctions,
	url: string,
	headers: IDataObject,
	pageSize: number,
): Promise<IDataObject[]> {
	const clusters: IDataObject[] = [];
	let token: string | undefined;
	do {
		const page = (await context.helpers.httpRequest({
			method: 'GET',
			url: url + listPath,
			headers,
			qs: { 'ListOption.limit': pageSize, ...(token && { 'ListOption.continue': token }) },
			json: true,
		})) as { items: IDataObject[]; metadata: { continue?: string } };
		clusters.push(...page.items);
		token = page.metadata.continue;
	} while (token !== undefined);
	return clusters;
}

function toItems(results: IDataObject[]) {
	return results.map((json, item) => ({ json, pairedItem: { item } }));
}
