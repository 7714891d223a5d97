import { Container } from '@n8n/di';
import {
	ExecutionLifecycleHooks,
	ExternalSecretsProxy,
	LoadOptionsContext,
	WorkflowExecute,
} from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	IConnections,
	IDataObject,
	INode,
	ILoadOptionsFunctions,
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	IRun,
	IWorkflowExecuteAdditionalData,
	OnError,
	WorkflowParameters,
} from 'n8n-workflow';
import { createEmptyRunExecutionData, NodeConnectionTypes, Workflow } from 'n8n-workflow';

import { CredentialsInMemory } from './credentialsHelper';
import type { LoadedPackage } from './packageUnderTest';
import { CREDENTIAL, ITEMS_NODE_TYPE, loadPackage, NODE_TYPE } from './packageUnderTest';

/** What a workflow's node under test is given. */
export interface NodeOptions {
	parameters: INodeParameters;
	/** What n8n's setting "On Error" says; the node stops the workflow by default. */
	onError?: OnError;
	settings?: Partial<INode>;
}

/** What came of a run. */
export interface Result {
	/** The node's output, all branches in one. */
	items: INodeExecutionData[];
	/** By branch: the output, and the error output where there is one. */
	branches: INodeExecutionData[][];
	/** The error that ended the run. */
	error: NonNullable<IRun['data']['resultData']['error']> | undefined;
	run: IRun;
}

/** n8n's engine with the built package in it and one credential stored. */
export class Engine {
	readonly credentials: CredentialsInMemory;

	private constructor(readonly loaded: LoadedPackage) {
		this.credentials = new CredentialsInMemory(loaded.credentialType);
	}

	static async load(): Promise<Engine> {
		return new Engine(await loadPackage());
	}

	/** Stores the credential that the nodes use, without a token. */
	saveCredential(data: ICredentialDataDecryptedObject): void {
		this.credentials.save('1', { ignoreSslIssues: false, accessToken: '', ...data });
	}

	/** The token that is stored with the credential now. */
	get storedToken(): string {
		return String(this.credentials.look('1').accessToken);
	}

	/** Runs one node with these items. */
	async run(node: NodeOptions, items: IDataObject[] = [{}]): Promise<Result> {
		return await this.start([node], items).result;
	}

	/** Runs nodes one after the other, the first with these items; the result is the last one's. */
	start(
		nodes: NodeOptions[],
		items: IDataObject[],
	): { result: Promise<Result>; cancel: () => void } {
		const workflow = new Workflow(workflowOf(nodes, this.loaded));
		const source = workflow.getNode('Items');
		if (source === null) throw new Error('The workflow has lost its first node');
		workflow.getStaticData('node', source).items = items;

		const execute = new WorkflowExecute(
			this.additionalData(),
			'trigger',
			createEmptyRunExecutionData(),
		);
		// n8n 1.x takes the workflow and the node as two arguments, later releases as one object.
		const isOlder = execute.run.length !== 1;
		const args: unknown[] = isOlder ? [workflow, source] : [{ workflow, startNode: source }];
		const running: ReturnType<WorkflowExecute['run']> = Reflect.apply(execute.run, execute, args);
		return {
			result: running.then((run) => resultOf(run, `Node ${nodes.length}`)),
			cancel: () => running.cancel(),
		};
	}

	/** Calls a method of the node that fills a drop-down of the editor. */
	async listSearch(
		method: string,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		const find = this.loaded.node.methods?.listSearch?.[method];
		if (find === undefined) throw new Error(`The node has no ${method}`);
		return await find.call(this.editorContext(), filter, paginationToken);
	}

	/** The request helpers that n8n gives to nodes and credentials. */
	helpers(): ILoadOptionsFunctions['helpers'] {
		return this.editorContext().helpers;
	}

	private editorContext(): ILoadOptionsFunctions {
		const workflow = new Workflow(workflowOf([{ parameters: {} }], this.loaded));
		const node = workflow.getNode('Node 1');
		if (node === null) throw new Error('The workflow has lost its node');
		// Its getWorkflow() may have no name, which the interface does not know of.
		return new LoadOptionsContext(
			workflow,
			node,
			this.additionalData(),
			'',
		) as ILoadOptionsFunctions;
	}

	/** What n8n's server gives the engine with each execution. */
	additionalData(): IWorkflowExecuteAdditionalData {
		const hooks = new ExecutionLifecycleHooks('trigger', '1', {
			id: '1',
			name: 'Test',
			active: false,
			isArchived: false,
			activeVersionId: null,
			createdAt: new Date(0),
			updatedAt: new Date(0),
			nodes: [],
			connections: {},
		});
		const absent = async () => await Promise.reject(new Error('Not in this engine'));
		const url = 'http://127.0.0.1:5678';
		return Object.assign(
			{ hooks },
			{
				credentialsHelper: this.credentials,
				executeWorkflow: absent,
				getRunExecutionData: absent,
				getRuntimeCredential: async () => await Promise.resolve(undefined),
				startRunnerTask: absent,
				logAiEvent: () => {},
				executionId: '1',
				currentNodeExecutionIndex: 0,
				restApiUrl: url,
				instanceBaseUrl: url,
				formBaseUrl: url,
				formWaitingBaseUrl: url,
				formTestBaseUrl: url,
				webhookBaseUrl: url,
				webhookWaitingBaseUrl: url,
				webhookTestBaseUrl: url,
				mcpBaseUrl: url,
				mcpTestBaseUrl: url,
				variables: {},
				externalSecretsProxy: Container.get(ExternalSecretsProxy),
			},
		);
	}
}

function workflowOf(nodes: NodeOptions[], { nodeTypes }: LoadedPackage): WorkflowParameters {
	const source: INode = {
		id: '0',
		name: 'Items',
		type: ITEMS_NODE_TYPE,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const connections: IConnections = {};
	const chain = nodes.map(({ parameters, onError, settings }, index): INode => {
		const name = `Node ${index + 1}`;
		const before = index === 0 ? source.name : `Node ${index}`;
		connections[before] = {
			main: [[{ node: name, type: NodeConnectionTypes.Main, index: 0 }]],
		};
		return {
			id: String(index + 1),
			name,
			type: NODE_TYPE,
			typeVersion: 1,
			position: [200 * (index + 1), 0],
			parameters,
			credentials: { [CREDENTIAL]: { id: '1', name: 'Sandbox' } },
			...(onError === undefined ? {} : { onError }),
			...settings,
		};
	});
	return {
		id: '1',
		name: 'Test',
		nodes: [source, ...chain],
		connections,
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
	};
}

function resultOf(run: IRun, nodeName: string): Result {
	const { runData, error } = run.data.resultData;
	const main = runData[nodeName]?.[0]?.data?.main ?? [];
	const branches = main.map((items) => items ?? []);
	return { items: branches.flat(), branches, error, run };
}
