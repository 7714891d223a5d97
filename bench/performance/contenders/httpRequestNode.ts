import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { INodeParameters, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';

import { CREDENTIAL } from '../../../test/engine/packageUnderTest';
import { Workbench } from '../engine/workbench';
import type { Contender, ListTask } from './contender';
import { bodyFor, createPath, listPath, numbered } from './job';
import { PlainCredential } from './plainCredential';

/** n8n gives the node of this name all credentials. */
export const TYPE = 'n8n-nodes-base.httpRequest';

/** Where n8n's own nodes are: in the n8n that `npm start` runs. */
const HOST = join(__dirname, '../../../host/package.json');

/** n8n's HTTP Request node, as it is when one adds it to a workflow, with one of two credentials. */
function httpRequestNode(credential: string): Contender['load'] {
	return async () => {
		const nodeType = loadNodeType();
		const workbench = await Workbench.load({ [TYPE]: nodeType }, [new PlainCredential()]);
		return async (task, service) => {
			workbench.saveCredential(service);
			const node = {
				type: TYPE,
				typeVersion: newestVersion(nodeType),
				credential,
				parameters: {
					authentication: 'predefinedCredentialType',
					nodeCredentialType: credential,
					...(task.kind === 'create' ? creating(service.url) : listing(service.url, task)),
				},
			};
			const items = task.kind === 'create' ? numbered(task.count) : [{ json: {} }];
			const output = await workbench.run(node, items);
			return task.kind === 'create' ? output : output.flatMap(({ json }) => json.items);
		};
	};
}

/** The HTTP Request node with this package's credential. */
export const httpRequestWithOurs: Contender = {
	title: 'HTTP Request node, this credential',
	about:
		"n8n's HTTP Request node (newest version, no options) with the credential of this package; its JSON body holds one expression.",
	load: httpRequestNode(CREDENTIAL),
};

/** The HTTP Request node with an expirable credential as n8n's built-in ones are. */
export const httpRequestWithPlain: Contender = {
	title: 'HTTP Request node, plain credential',
	about:
		"The same with a plain expirable credential, as n8n's built-in ones are: a log-in whenever n8n asks for one, a header made by an expression.",
	load: httpRequestNode(new PlainCredential().name),
};

/** The parameters of a create for each item, in the HTTP Request node. */
export function creating(url: string, options: INodeParameters = {}): INodeParameters {
	return {
		method: 'POST',
		url: url + createPath,
		sendBody: true,
		contentType: 'json',
		specifyBody: 'json',
		jsonBody: `=${JSON.stringify(bodyFor('Report {{ $json.n }}'), null, 2)}`,
		options,
	};
}

/** All pages, by the node's own pagination. */
function listing(url: string, { pageSize }: ListTask): INodeParameters {
	return {
		method: 'GET',
		url: url + listPath,
		sendQuery: true,
		specifyQuery: 'keypair',
		queryParameters: { parameters: [{ name: 'ListOption.limit', value: String(pageSize) }] },
		options: {
			pagination: {
				pagination: {
					paginationMode: 'updateAParameterInEachRequest',
					parameters: {
						parameters: [
							{
								type: 'qs',
								name: 'ListOption.continue',
								value: '={{ $response.body?.metadata?.continue }}',
							},
						],
					},
					paginationCompleteWhen: 'other',
					completeExpression: '={{ !$response.body.metadata.continue }}',
					limitPagesFetched: false,
					requestInterval: 0,
				},
			},
		},
	};
}

function loadNodeType(): INodeType {
	return loadNodeOfN8n('HttpRequest/HttpRequest.node.js', 'HttpRequest');
}

/** A node of n8n's own, in its newest version. */
export function loadNodeOfN8n(file: string, className: string): INodeType {
	const classes = createRequire(HOST)(`n8n-nodes-base/dist/nodes/${file}`) as Record<
		string,
		new () => INodeType | IVersionedNodeType
	>;
	const Node = classes[className];
	if (Node === undefined) throw new Error(`n8n has no ${className} in ${file}`);
	return NodeHelpers.getVersionedNodeType(new Node());
}

export function newestVersion({ description: { version } }: INodeType): number {
	return Math.max(...[version].flat());
}
