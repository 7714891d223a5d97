import { createRequire } from 'node:module';
import { join } from 'node:path';

import type {
	ICredentialType,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IVersionedNodeType,
} from 'n8n-workflow';
import { NodeConnectionTypes, NodeHelpers } from 'n8n-workflow';

import { CredentialsInMemory } from '../test/support/credentialsHelper';
import { CREDENTIAL, NODE_TYPE } from '../test/support/packageUnderTest';
import type { NodeOptions } from '../test/support/workflow';
import type { ContenderName, Target, Task } from './case';

/** A node of a workflow, and its implementation. */
export interface Contender extends Pick<NodeOptions, 'parameters' | 'onError' | 'settings'> {
	/** The type of the node in n8n: the name of its package, a dot and the name of the node. */
	type: string;
	typeVersion?: number;
	/** Undefined for the node of this package. */
	implementation?: INodeType;
}

/** For each contender, a function that returns the node that does a task. */
export const contenders: Record<ContenderName, (task: Task, target: Target) => Contender> = {
	thisNode,
	oneAtATime: bareHelper(1),
	plainCredential,
	httpRequest,
	bareHelper: bareHelper(10),
};

/** The fields of all jobs that the contenders create. Only the display name differs between the items. */
const job = { workflowUid: 'wf-report', workCluster: 'wc-000001', namespace: 'default' };
const createPath = `/api/v1/namespaces/${job.namespace}/jobs`;

/** Returns the body of the request that creates a job. */
function bodyFor(displayName: string) {
	const { workflowUid, workCluster, namespace } = job;
	const lists = { metadata: {}, inputs: [], outputs: [] };
	const texts = { namespace, displayName, group: '', type: 'normal', workCluster };
	return { namespace, job: { ...texts, ...lists, workflow: { uid: workflowUid } } };
}

/** Returns the node of this package, as it was last built. */
function thisNode({ namespaces, timeout }: Task): Contender {
	return {
		type: NODE_TYPE,
		onError: 'continueRegularOutput',
		parameters: {
			resource: 'job',
			operation: 'create',
			namespace: namespaces === undefined ? job.namespace : '={{ $json.namespace }}',
			workflowUid: job.workflowUid,
			workCluster: { __rl: true, mode: 'id', value: job.workCluster },
			displayName: '=Report {{ $json.n }}',
			options: timeout === undefined ? {} : { timeout },
		},
	};
}

/** Returns n8n's HTTP Request node in its newest version. It has its default options, but continues on errors. */
function httpRequest(_: Task, { url }: Target): Contender {
	const implementation = httpRequestNode();
	return {
		// n8n allows a node of this type to use any credential.
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: Math.max(...[implementation.description.version].flat()),
		implementation,
		onError: 'continueRegularOutput',
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: CREDENTIAL,
			method: 'POST',
			url: url + createPath,
			sendBody: true,
			contentType: 'json',
			specifyBody: 'json',
			jsonBody: `=${JSON.stringify(bodyFor('Report {{ $json.n }}'), null, 2)}`,
		},
	};
}

/** Loads the newest version of the node from the n8n that `npm start` installs. */
function httpRequestNode(): INodeType {
	const path = 'n8n-nodes-base/dist/nodes/HttpRequest/HttpRequest.node.js';
	const requireFromHost = createRequire(join(__dirname, '../host/package.json'));
	const { HttpRequest } = requireFromHost(path) as { HttpRequest: new () => IVersionedNodeType };
	return NodeHelpers.getVersionedNodeType(new HttpRequest());
}

/**
 * Returns a contender that logs in once, and then only calls the engine's request helper and checks nothing.
 * @param atOnce the number of requests that it sends at the same time
 */
function bareHelper(atOnce: number): (task: Task, target: Target) => Contender {
	return (_, target) => ({
		type: 'bench.bareHelper',
		parameters: {},
		implementation: {
			description: descriptionOf('Bare Helper', 'bareHelper'),
			execute: async function () {
				return [await createAll(this, target, atOnce)];
			},
		},
	});
}

/** Returns the description of a node without fields. */
const descriptionOf = (displayName: string, name: string): INodeTypeDescription => ({
	displayName,
	name,
	group: ['transform'],
	version: 1,
	description: 'Written for the benchmark',
	defaults: { name: displayName },
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	properties: [],
});

/** A credential whose only field is a token that is always valid. */
const plain: ICredentialType = {
	name: 'plainToken',
	displayName: 'Plain Token',
	properties: [{ displayName: 'Token', name: 'token', type: 'string', default: '' }],
	authenticate: async ({ token }, options) =>
		await Promise.resolve({
			...options,
			headers: { ...options.headers, Authorization: `Bearer ${String(token)}` },
		}),
};

/** A credential store that knows the plain credential, too. */
export class Credentials extends CredentialsInMemory {
	constructor(types: (name: string) => ICredentialType) {
		super((name) => (name === plain.name ? plain : types(name)));
	}
}

/**
 * Returns a node as many are written: for each item, it reads a field, and sends one request with n8n's helper and a
 * credential. It checks nothing.
 */
function plainCredential(_: Task, { url }: Target): Contender {
	const description = descriptionOf('Three Lines', 'threeLines');
	return {
		type: 'bench.threeLines',
		parameters: { displayName: '=Report {{ $json.n }}' },
		settings: { credentials: { [plain.name]: { id: PLAIN_ID, name: 'Plain' } } },
		implementation: {
			description: {
				...description,
				credentials: [{ name: plain.name, required: true }],
				properties: [
					{ displayName: 'Display Name', name: 'displayName', type: 'string', default: '' },
				],
			},
			execute: async function () {
				const request = this.helpers.httpRequestWithAuthentication.bind(this, plain.name);
				const results: INodeExecutionData[] = [];
				for (const item of this.getInputData().keys()) {
					const body = bodyFor(String(this.getNodeParameter('displayName', item)));
					const created: IDataObject = await request({
						method: 'POST',
						url: url + createPath,
						body,
						json: true,
					});
					results.push({ json: created, pairedItem: { item } });
				}
				return [results];
			},
		},
	};
}

/** The ID of the stored plain credential. */
export const PLAIN_ID = '2';

async function createAll(context: IExecuteFunctions, target: Target, atOnce: number) {
	const { url, userName, password } = target;
	const post = async (path: string, body: IDataObject, headers = {}) =>
		(await context.helpers.httpRequest({
			...{ method: 'POST', url: url + path, body, headers, json: true },
		})) as IDataObject;
	const login = await post('/oauth/login', { userName, password, type: 'basic' });
	const headers = { Authorization: `Bearer ${String(login.access_token)}` };
	const results: INodeExecutionData[] = [];
	const waiting = context.getInputData().entries();
	const worker = async () => {
		for (const [item, { json }] of waiting) {
			const created = await post(createPath, bodyFor(`Report ${String(json.n)}`), headers);
			results[item] = { json: created, pairedItem: { item } };
		}
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
	return results;
}
