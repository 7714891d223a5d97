import { Container } from '@n8n/di';
import {
	ExecutionLifecycleHooks,
	ExternalSecretsProxy,
	LoadOptionsContext,
	WorkflowExecute,
} from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	ILoadOptionsFunctions,
	INodeExecutionData,
	INodeListSearchResult,
	IPinData,
	IRequestOptions,
	IRun,
	IWorkflowExecuteAdditionalData,
	WorkflowParameters,
} from 'n8n-workflow';
import {
	createEmptyRunExecutionData,
	jsonParse,
	jsonStringify,
	NodeConnectionTypes,
	Workflow,
} from 'n8n-workflow';

import { smallestJob } from '../sandbox/client';
import { CredentialsInMemory } from './credentialsHelper';
import type { LoadedPackage } from './packageUnderTest';
import { AGENT_NODE_TYPE, CREDENTIAL, loadPackage } from './packageUnderTest';
import { workflowOf, type NodeOptions } from './workflow';

export type { NodeOptions };

export type Result = ReturnType<typeof resultOf>;

/** n8n's engine with the built package and one stored credential. */
export class Engine {
	private constructor(
		readonly loaded: LoadedPackage,
		readonly credentials: CredentialsInMemory,
	) {}

	/** @param Credentials class that stores the credential; by default, in the memory of this engine */
	static async load(Credentials = CredentialsInMemory): Promise<Engine> {
		const loaded = await loadPackage();
		return new Engine(loaded, new Credentials(loaded.credentialType));
	}

	/** Stores the credential that the nodes use, without a token unless `data` has one. */
	saveCredential(data: ICredentialDataDecryptedObject): void {
		this.credentials.save('1', { ignoreSslIssues: false, accessToken: '', ...data });
	}

	/** What starts the executions: a trigger, the editor ('manual') or another workflow ('integrated'). */
	mode: 'trigger' | 'manual' | 'integrated' = 'trigger';

	/** The ID of the executions. In n8n, each one has its own; a call of an MCP client has none. */
	executionId: string | undefined = '1';

	/** Changes the credential as its form does: the stored token stays unless `change` replaces it. */
	editCredential(change: ICredentialDataDecryptedObject): void {
		this.credentials.save('1', { ...this.credentials.look('1'), ...change });
	}

	/** The token in the stored credential, with the hash of its account. */
	get storedToken(): string {
		return String(this.credentials.look('1').accessToken);
	}

	/** The stored token as it is sent: without the hash of its account. */
	get token(): string {
		return this.storedToken.replace(/^[^.]*\./, '');
	}

	/** Stores a token for the same account, as another process would. */
	storeAsOtherProcess(token: string): void {
		const [hash] = this.storedToken.split('.');
		this.editCredential({ accessToken: `${hash}.${token}` });
	}

	/** Runs one node with these items. */
	async run(node: NodeOptions, items: IDataObject[] = [{}]): Promise<Result> {
		return await this.start([node], items).result;
	}

	/** Runs a chain of nodes, the first with these items. The result is that of the last node. */
	start(
		nodes: NodeOptions[],
		items: IDataObject[],
	): { result: Promise<Result>; cancel: () => void } {
		const running = this.runWorkflow(workflowOf(nodes, this.loaded), { Items: { items } });
		return {
			result: running.then((run) => resultOf(run, `Node ${nodes.length}`)),
			cancel: () => running.cancel(),
		};
	}

	/**
	 * Makes an agent call a node as its tool, once for each entry of `calls`.
	 *
	 * @returns the response of the tool to each call, and the run
	 */
	async callTool(
		node: NodeOptions,
		calls: IDataObject[],
		{ atOnce = false } = {},
	): Promise<{ answers: string[]; run: IRun }> {
		const workflow = workflowOf([{ ...node, asTool: true }], this.loaded);
		const agent = 'Agent';
		workflow.nodes.push({
			...{ id: agent, name: agent, type: AGENT_NODE_TYPE, typeVersion: 1, parameters: {} },
			position: [0, 0],
		});
		workflow.connections = {
			Items: { main: [[{ node: agent, type: NodeConnectionTypes.Main, index: 0 }]] },
			'Node 1': { ai_tool: [[{ node: agent, type: NodeConnectionTypes.AiTool, index: 0 }]] },
		};
		const run = await this.runWorkflow(workflow, {
			Items: { items: [{}] },
			[agent]: { calls, atOnce },
		});
		const answers = resultOf(run, agent).items.map(({ json }) => String(json.answer));
		return { answers, run };
	}

	/**
	 * @param staticData static data of nodes, by name
	 * @param pinData pinned output of nodes that aren't run, by name
	 */
	runWorkflow(
		parameters: WorkflowParameters,
		staticData: Record<string, IDataObject>,
		pinData?: IPinData,
	): ReturnType<WorkflowExecute['run']> {
		const workflow = new Workflow(parameters);
		for (const [name, data] of Object.entries(staticData)) {
			const node = workflow.getNode(name) ?? undefined;
			Object.assign(workflow.getStaticData('node', node), data);
		}
		const source = workflow.getNode('Items');
		if (source === null) throw new Error('The workflow has lost its first node');
		const execute = new WorkflowExecute(
			this.additionalData(),
			this.mode,
			createEmptyRunExecutionData(),
		);
		// n8n 1.x takes the workflow and the node as two arguments; later releases take one object.
		const isOlder = execute.run.length !== 1;
		const args: unknown[] = isOlder
			? [workflow, source, undefined, pinData]
			: [{ workflow, startNode: source, pinData }];
		return Reflect.apply(execute.run, execute, args) as ReturnType<WorkflowExecute['run']>;
	}

	/**
	 * Retries a failed execution with the data that n8n stores of it, as n8n's Retry does (ExecutionService.retry in
	 * n8n).
	 *
	 * @param nodes nodes of the workflow to run: the original workflow, or the currently saved one
	 */
	async retry({ run }: Result, nodes: NodeOptions[]): Promise<Result> {
		const data = stored(run);
		delete data.resultData.error;
		const failed = data.resultData.lastNodeExecuted ?? '';
		const runs = data.resultData.runData[failed];
		if (runs?.at(-1)?.error !== undefined) runs.pop();

		const workflow = new Workflow(workflowOf(nodes, this.loaded));
		for (const entry of data.executionData?.nodeExecutionStack ?? []) {
			entry.node = workflow.getNode(entry.node.name) ?? entry.node;
		}
		return await this.resume(workflow, data, nodes);
	}

	/**
	 * Retries an execution during which n8n crashed, as n8n's Retry does. n8n's recovery has then stored the execution
	 * as it was at its start, and an entry for each node that was started (ExecutionRecoveryService.amend in n8n).
	 *
	 * @param started names of the nodes that were started; all except the last one had finished
	 */
	async retryCrashed(
		nodes: NodeOptions[],
		items: IDataObject[],
		started: string[],
	): Promise<Result> {
		const workflow = new Workflow(workflowOf(nodes, this.loaded));
		const node = workflow.getNode('Items') ?? undefined;
		if (node === undefined) throw new Error('The workflow has lost its first node');
		Object.assign(workflow.getStaticData('node', node), { items });
		const data = createEmptyRunExecutionData();
		data.executionData = {
			...{ contextData: {}, metadata: {}, waitingExecution: {}, waitingExecutionSource: {} },
			nodeExecutionStack: [{ node, data: { main: [[{ json: {} }]] }, source: null }],
		};
		const artificial = { json: { isArtificialRecoveredEventItem: true } };
		const times = { startTime: 0, executionIndex: 0, executionTime: 0, source: [null] };
		for (const name of started) {
			const isCrashed = name === started.at(-1);
			data.resultData.runData[name] = isCrashed
				? []
				: [{ ...times, data: { main: [[artificial]] } }];
		}
		return await this.resume(workflow, data, nodes);
	}

	private async resume(workflow: Workflow, data: IRun['data'], { length }: NodeOptions[]) {
		const execute = new WorkflowExecute(this.additionalData(), 'retry', data);
		return resultOf(await execute.processRunExecutionData(workflow), `Node ${length}`);
	}

	/** Calls the node's method that fills a drop-down in the editor. */
	async listSearch(
		method: string,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		const find = this.loaded.node.methods?.listSearch?.[method];
		if (find === undefined) throw new Error(`The node has no ${method}`);
		return await find.call(this.editorContext(), filter, paginationToken);
	}

	/** Sends a request with the credential, as n8n's HTTP Request node does. */
	async requestAsOtherNode(options: Omit<IRequestOptions, 'url'> & { uri: string }) {
		const context = this.editorContext();
		const { requestWithAuthentication } = context.helpers;
		return (await requestWithAuthentication.call(context, CREDENTIAL, options)) as unknown;
	}

	/** Lists the clusters with the credential, as n8n's HTTP Request node does. */
	async listAsOtherNode(): Promise<unknown> {
		const { baseUrl } = this.credentials.look('1');
		return await this.requestAsOtherNode({
			method: 'GET',
			uri: `${String(baseUrl)}/api/v1/clusters`,
		});
	}

	/** Creates a job with the credential, as n8n's HTTP Request node does. */
	async createAsOtherNode(options: Partial<IRequestOptions> = {}): Promise<unknown> {
		const { baseUrl } = this.credentials.look('1');
		return await this.requestAsOtherNode({
			...{ method: 'POST', uri: `${String(baseUrl)}/api/v1/namespaces/default/jobs` },
			...{ body: { namespace: 'default', job: smallestJob }, json: true },
			...options,
		});
	}

	/**
	 * Sends n8n's test of the credential with these values in its form, as n8n's CredentialsTester does: for a node of a
	 * certain type, and with the credential's own request.
	 */
	async testCredential(changed: ICredentialDataDecryptedObject = {}): Promise<unknown> {
		const data = { ...this.credentials.look('1'), ...changed };
		const context = this.editorContext({ type: 'n8n-nodes-base.noOp', parameters: { temp: '' } });
		const { url, qs } = this.loaded.credentialType(CREDENTIAL).test?.request ?? {};
		const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
			...([context, CREDENTIAL] as const),
			{ method: 'GET', baseURL: String(data.baseUrl), url: String(url), ...(qs && { qs }) },
			{ credentialsDecrypted: { id: '1', name: '', type: CREDENTIAL, data } },
		);
		return response;
	}

	private editorContext(
		changed: { type?: string; parameters?: NodeOptions['parameters'] } = {},
	): ILoadOptionsFunctions {
		const workflow = new Workflow(workflowOf([{ parameters: {} }], this.loaded));
		const node = workflow.getNode('Node 1');
		if (node === null) throw new Error('The workflow has lost its node');
		// The type of LoadOptionsContext differs from the interface: the workflow that getWorkflow() returns may lack a
		// name.
		return new LoadOptionsContext(
			workflow,
			{ ...node, ...changed },
			this.additionalData(),
			'',
		) as ILoadOptionsFunctions;
	}

	/** Returns the data that n8n's server passes to the engine for each execution. */
	additionalData(): IWorkflowExecuteAdditionalData {
		const now = new Date(0);
		const hooks = new ExecutionLifecycleHooks('trigger', '1', {
			...{ id: '1', name: 'Test', active: false, isArchived: false, activeVersionId: null },
			...{ createdAt: now, updatedAt: now, nodes: [], connections: {} },
		});
		const url = 'http://127.0.0.1:5678';
		const used: Partial<IWorkflowExecuteAdditionalData> = {
			hooks,
			credentialsHelper: this.credentials,
			getRuntimeCredential: async () => await Promise.resolve(undefined),
			...(this.executionId !== undefined && { executionId: this.executionId }),
			currentNodeExecutionIndex: 0,
			...{ webhookWaitingBaseUrl: url, formWaitingBaseUrl: url, variables: {} },
			externalSecretsProxy: Container.get(ExternalSecretsProxy),
		};
		return used as IWorkflowExecuteAdditionalData;
	}
}

/** Returns the data of a run as n8n reads it from its database. */
export function stored({ data }: IRun): IRun['data'] {
	return jsonParse(jsonStringify(data, { replaceCircularRefs: true }));
}

/** Throws an error if an item has a key that n8n's Code node refuses. test/host/neighbours.test.ts shows its errors. */
export function checkKeys(items: INodeExecutionData[]): void {
	const keys = new Set(items.flatMap((item) => Object.keys(item)));
	const others = [...keys].filter((key) => !['json', 'pairedItem', 'binary'].includes(key));
	if (others.length > 0) throw new Error(`n8n's Code node refuses items with ${others.join()}`);
}

/**
 * Returns the outcome of a run: the output of the named node in its first run, and the error that ended the run.
 *
 * @throws Error if an item has a key that n8n's Code node refuses
 */
export function resultOf(run: IRun, nodeName: string) {
	const { runData, error } = run.data.resultData;
	const [first] = runData[nodeName] ?? [];
	const branches = (first?.data?.main ?? []).map((items) => items ?? []);
	const outputs = Object.values(runData).flatMap((runs) => runs.flatMap(({ data }) => data?.main));
	checkKeys(outputs.flatMap((items) => items ?? []));
	return {
		/** The items of all branches of the node's output, in one list. */
		items: branches.flat(),
		/** The items of each branch: the output, followed by the error output if the node has one. */
		branches,
		/** The hints that the editor shows above the node's output. */
		hints: first?.hints?.map(({ message }) => message) ?? [],
		/** The error that ended the run. */
		error,
		run,
	};
}
