import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { INodeParameters, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';

import { CREDENTIAL } from '../../test/support/packageUnderTest';
import type { ListTask, Target, Task } from '../case';
import { PLAIN_CREDENTIAL } from '../engine/plainCredential';
import type { WorkflowNode } from '../engine/run';
import { bodyFor, createPath, listPath } from './job';

/** A file of the package that depends on n8n. n8n's own nodes are loaded from there. */
const HOST = join(__dirname, '../../host/package.json');

/**
 * Returns n8n's HTTP Request node in its newest version. It has its default options, but continues on errors.
 * @param credential the type of the credential; by default, the credential of this package
 */
export function httpRequest(task: Task, { url }: Target, credential = CREDENTIAL): WorkflowNode {
	const implementation = loadNode('HttpRequest');
	return {
		// n8n allows a node of this type to use any credential.
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

/** Returns the HTTP Request node with an expirable credential that resembles those of n8n. */
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

/** Returns the parameters for a list of all clusters. The node's pagination requests the pages. */
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

/** Loads one of n8n's own nodes in its newest version. */
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
