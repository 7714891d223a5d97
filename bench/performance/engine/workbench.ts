import { WorkflowExecute } from 'n8n-core';
import type {
	ICredentialType,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	OnError,
} from 'n8n-workflow';
import { createEmptyRunExecutionData, NodeConnectionTypes, Workflow } from 'n8n-workflow';

import { Engine } from '../../../test/engine/run';
import type { Target } from '../sandbox/messages';
import { Credentials } from './credentials';

/** A node in a workflow of its own, as the editor would store it. */
export interface NodeToRun {
	/** As n8n names it: package and node. */
	type: string;
	typeVersion?: number;
	parameters: INodeParameters;
	/** The type of its credential. */
	credential?: string;
	/** What n8n's setting "On Error" says; it stops the workflow by default. */
	onError?: OnError;
}

/** n8n's engine with this package in it and other node types and credential types beside. */
export class Workbench {
	private readonly credentials: Credentials;

	private constructor(
		private readonly engine: Engine,
		private readonly nodeTypes: Record<string, INodeType>,
		credentialTypes: ICredentialType[],
	) {
		this.credentials = new Credentials(
			(name) =>
				credentialTypes.find((type) => type.name === name) ?? engine.loaded.credentialType(name),
		);
	}

	static async load(
		nodeTypes: Record<string, INodeType> = {},
		credentialTypes: ICredentialType[] = [],
	): Promise<Workbench> {
		return new Workbench(await Engine.load(), nodeTypes, credentialTypes);
	}

	/** Stores the one credential there is, as a user has just saved it: without a token. */
	saveCredential({ url, userName, password }: Target): void {
		const form = { baseUrl: url, userName, password, ignoreSslIssues: false };
		this.credentials.save('1', { ...form, accessToken: '' });
	}

	/**
	 * Runs a node with these items, and gives its output.
	 * @throws what the node ended with
	 */
	async run(node: NodeToRun, items: INodeExecutionData[]): Promise<INodeExecutionData[]> {
		return await this.execute([{ ...node, name: 'Node' }], { Items: [['Node']] }, 'Node', items);
	}

	/** Runs a node in n8n's Loop Over Items, so many items at a time, with a Wait of so many seconds after each. */
	async runInLoop(
		node: NodeToRun,
		{ batchSize, seconds }: { batchSize: number; seconds: number },
		items: INodeExecutionData[],
	): Promise<INodeExecutionData[]> {
		const waiting = { resume: 'timeInterval', amount: seconds, unit: 'seconds' };
		const nodes = [
			{ name: 'Loop', type: LOOP, typeVersion: 3, parameters: { batchSize } },
			{ ...node, name: 'Node' },
			{ name: 'Wait', type: WAIT, typeVersion: 1.1, parameters: waiting },
		];
		const connections = {
			Items: [['Loop']],
			Loop: [[], ['Node']],
			Node: [['Wait']],
			Wait: [['Loop']],
		};
		return await this.execute(nodes, connections, 'Loop', items);
	}

	/**
	 * Runs a workflow, and gives the first output of one of its nodes.
	 * @param connections by node: the names of those that each of its outputs leads to
	 */
	private async execute(
		nodes: Array<NodeToRun & { name: string }>,
		connections: Record<string, string[][]>,
		last: string,
		items: INodeExecutionData[],
	): Promise<INodeExecutionData[]> {
		const workflow = new Workflow({
			id: '1',
			name: 'Bench',
			nodes: [
				{ ...place('Items', 0), type: ITEMS, typeVersion: 1, parameters: {} },
				...nodes.map(({ name, type, typeVersion = 1, parameters, credential, onError }, index) => ({
					...place(name, index + 1),
					type,
					typeVersion,
					parameters,
					...(onError !== undefined && { onError }),
					...(credential !== undefined && {
						credentials: { [credential]: { id: '1', name: 'Sandbox' } },
					}),
				})),
			],
			connections: Object.fromEntries(
				Object.entries(connections).map(([name, outputs]) => [
					name,
					{
						main: outputs.map((targets) =>
							targets.map((node) => ({ node, type: NodeConnectionTypes.Main, index: 0 })),
						),
					},
				]),
			),
			active: false,
			nodeTypes: this.types(items),
			settings: { executionOrder: 'v1' },
		});
		const startNode = workflow.getNode('Items');
		if (startNode === null) throw new Error('The workflow has lost its first node');
		const run = await new WorkflowExecute(
			{ ...this.engine.additionalData(), credentialsHelper: this.credentials },
			'trigger',
			createEmptyRunExecutionData(),
		).run({ workflow, startNode });
		const { runData, error } = run.data.resultData;
		if (error !== undefined) throw error;
		return runData[last]?.at(-1)?.data?.main?.[0] ?? [];
	}

	private types(items: INodeExecutionData[]): INodeTypes {
		const getByName = (name: string): INodeType =>
			name === ITEMS
				? itemsNode(items)
				: (this.nodeTypes[name] ?? this.engine.loaded.nodeTypes.getByNameAndVersion(name));
		return { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
	}
}

/** Hands on the items that a workflow starts with. */
function itemsNode(items: INodeExecutionData[]): INodeType {
	return {
		description: {
			displayName: 'Items',
			name: 'items',
			group: ['transform'],
			version: 1,
			description: 'Hands on the items of a measurement',
			defaults: { name: 'Items' },
			inputs: [],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
		},
		execute: async () => await Promise.resolve([items]),
	};
}

const ITEMS = 'bench.items';

/** Nodes of n8n's own that a loop with a Wait is made of. */
export const LOOP = 'n8n-nodes-base.splitInBatches';
export const WAIT = 'n8n-nodes-base.wait';

function place(name: string, column: number) {
	return { id: name, name, position: [200 * column, 0] as [number, number] };
}
