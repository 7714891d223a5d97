import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { INodeParameters, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';

import { CREDENTIAL } from '../../test/support/packageUnderTest';
import type { ListTask, Target, Task } from '../case';
import { PLAIN_CREDENTIAL } from '../engine/plainCredential';
import type { WorkflowNode } from '../engine/run';
import { bodyFor, createPath, listPath } from './job';

/** Where n8n's own nodes are: in the n8n that `npm start` runs. */
const HOST = join(__dirname, '../../host/package.json');

/** n8n's HTTP Request node (newest version) as it is when added to a workflow, with this package's credential. */
export function httpRequest(task: Task, { url }: Target, credential = CREDENTIAL): WorkflowNode {
	const implementation = loadNode('HttpRequest');
	return {
		// n8n lets the node of this name use every credential.
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: Math.max(...[implementation.description.version].flat()),
		implementation,
		credential,
		onError: 'continueRegularOutput',
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: credential,
			...(task.kind === 'create' ? creating(url) : listing(url, task)),
		},
	};
}

/** The same with an expirable credential like n8n's built-in ones. */
export function httpRequestPlain(task: Task, target: Target): WorkflowNode {
	return httpRequest(task, target, PLAIN_CREDENTIAL);
}

function creating(url: string): INodeParameters {
	return {
		method: 'POST',
		url: url + createPath,
		sendBody: true,
		contentType: 'json',
		specifyBody: 'json',
		jsonBody: `=${JSON.stringify(bodyFor('Report {{ $json.n }}'), null, 2)}`,
	};
}

/** All pages, by the node's own pagination. */
function listing(url: string, { pageSize }: ListTask): INodeParameters {
	const next = {
		type: 'qs',
		name: 'ListOption.continue',
		value: '={{ $response.body?.metadata?.continue }}',
	};
	const pagination = {
		paginationMode: 'updateAParameterInEachRequest',
		parameters: { parameters: [next] },
		paginationCompleteWhen: 'other',
		completeExpression: '={{ !$response.body.metadata.continue }}',
		limitPagesFetched: false,
		requestInterval: 0,
	};
	return {
		method: 'GET',
		url: url + listPath,
		sendQuery: true,
		specifyQuery: 'keypair',
		queryParameters: { parameters: [{ name: 'ListOption.limit', value: String(pageSize) }] },
		options: { pagination: { pagination } },
	};
}

/** One of n8n's own nodes, in its newest version. */
function loadNode(name: string): INodeType {
	const path = `n8n-nodes-base/dist/nodes/${name}/${name}.node.js`;
	const classes = createRequire(HOST)(path) as Record<
		string,
		new () => INodeType | IVersionedNodeType
	>;
	const Node = classes[name];
	if (Node === undefined) throw new Error(`n8n has no ${name} in ${path}`);
	return NodeHelpers.getVersionedNodeType(new Node());
}
