import { WorkflowExecute } from 'n8n-core';
import type {
	ICredentialType,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
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
}

/** n8n's engine with this package in it and other node types and credential types beside. */
export class Workbench {
	/** The items that the next workflow starts with. */
	private items: INodeExecutionData[] = [];
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
		this.items = items;
		const workflow = new Workflow({
			id: '1',
			name: 'Bench',
			nodes: [
				{ ...place('Items', 0), type: ITEMS, typeVersion: 1, parameters: {} },
				{
					...place('Node', 1),
					type: node.type,
					typeVersion: node.typeVersion ?? 1,
					parameters: node.parameters,
					...(node.credential !== undefined && {
						credentials: { [node.credential]: { id: '1', name: 'Sandbox' } },
					}),
				},
			],
			connections: {
				Items: { main: [[{ node: 'Node', type: NodeConnectionTypes.Main, index: 0 }]] },
			},
			active: false,
			nodeTypes: this.types(),
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
		return runData['Node']?.[0]?.data?.main?.[0] ?? [];
	}

	private types(): INodeTypes {
		const getByName = (name: string): INodeType =>
			name === ITEMS
				? this.itemsNode
				: (this.nodeTypes[name] ?? this.engine.loaded.nodeTypes.getByNameAndVersion(name));
		return { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
	}

	private readonly itemsNode: INodeType = {
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
		execute: async () => await Promise.resolve([this.items]),
	};
}

const ITEMS = 'bench.items';

function place(name: string, column: number) {
	return { id: name, name, position: [200 * column, 0] as [number, number] };
}
