import { join } from 'node:path';

import { PackageDirectoryLoader } from 'n8n-core';
import type { ICredentialType, INodeType, INodeTypes } from 'n8n-workflow';
import { NodeConnectionTypes, NodeHelpers } from 'n8n-workflow';

const PACKAGE = 'n8n-nodes-job-orchestration';
export const NODE_TYPE = `${PACKAGE}.jobOrchestration`;
export const CREDENTIAL = 'jobOrchestrationApi';

/** The type of the node that stands before the one under test and hands on the test's items. */
export const ITEMS_NODE_TYPE = 'test.items';

/** The package as it was built, loaded as n8n loads it. */
export interface LoadedPackage {
	nodeTypes: INodeTypes;
	node: INodeType;
	credentialType: (name: string) => ICredentialType;
}

/** Loads the built package from its folder with n8n's own loader. */
export async function loadPackage(folder = join(__dirname, '../..')): Promise<LoadedPackage> {
	const loader = new PackageDirectoryLoader(folder);
	await loader.loadAll();
	const node = NodeHelpers.getVersionedNodeType(loader.getNode('jobOrchestration').type);
	const getByName = (type: string) => {
		if (type === NODE_TYPE) return node;
		if (type === ITEMS_NODE_TYPE) return itemsNode;
		throw new Error(`No node type ${type} here`);
	};
	return {
		node,
		nodeTypes: {
			getByName,
			getByNameAndVersion: getByName,
			getKnownTypes: () => ({}),
		},
		credentialType: (name) => loader.getCredential(name).type,
	};
}

/** Hands on what its static data holds: nothing of the test goes through the engine's parameters. */
const itemsNode: INodeType = {
	description: {
		displayName: 'Items',
		name: 'items',
		group: ['transform'],
		version: 1,
		description: 'Hands on the items of a test',
		defaults: { name: 'Items' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute() {
		const { items } = this.getWorkflowStaticData('node');
		if (!Array.isArray(items)) return await Promise.resolve([[]]);
		return await Promise.resolve([items.map((json, item) => ({ json, pairedItem: { item } }))]);
	},
};
