import { join } from 'node:path';

import { PackageDirectoryLoader } from 'n8n-core/dist/nodes-loader/package-directory-loader';
import type { IBinaryKeyData, IDataObject, INodeType, NodeConnectionType } from 'n8n-workflow';
import { NodeConnectionTypes, NodeHelpers } from 'n8n-workflow';

export const NODE_TYPE = 'n8n-nodes-job-orchestration.jobOrchestration';
/** The node as n8n offers it to agents: made by n8n of the node, and called so. */
export const TOOL_TYPE = `${NODE_TYPE}Tool`;
export const CREDENTIAL = 'jobOrchestrationApi';

/** The type of the node that stands before the one under test and hands on the test's items. */
export const ITEMS_NODE_TYPE = 'test.items';

/** The type of a node that calls the node under test as its tool, as an agent does. */
export const AGENT_NODE_TYPE = 'test.agent';

/** The package as it was built, loaded as n8n loads it. */
export type LoadedPackage = Awaited<ReturnType<typeof loadPackage>>;

/** Loads the built package with n8n's own loader. */
export async function loadPackage() {
	const loader = new PackageDirectoryLoader(join(__dirname, '../..'));
	await loader.loadAll();
	const node = NodeHelpers.getVersionedNodeType(loader.getNode('jobOrchestration').type);
	const types: Record<string, INodeType> = {
		[NODE_TYPE]: node,
		[TOOL_TYPE]: asTool(node),
		[AGENT_NODE_TYPE]: agentNode,
		[ITEMS_NODE_TYPE]: itemsNode,
	};
	const getByName = (type: string): INodeType => {
		const found = types[type];
		if (found === undefined) throw new Error(`No node type ${type} here`);
		return found;
	};
	return {
		node,
		nodeTypes: { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) },
		credentialType: (name: string) => loader.getCredential(name).type,
	};
}

/** What n8n makes of a node that is usable as a tool, under the name by which it knows it (n8n, tool-generation/ai-tools). */
function asTool(node: INodeType): INodeType {
	const description = {
		...node.description,
		name: `${node.description.name}Tool`,
		inputs: [],
		outputs: [NodeConnectionTypes.AiTool],
	};
	return Object.assign(Object.create(node) as INodeType, { description });
}

/** A node of the tests' own. */
function nodeOf(
	displayName: string,
	inputs: NodeConnectionType[],
	execute: NonNullable<INodeType['execute']>,
): INodeType {
	const name = displayName.toLowerCase();
	const about = { displayName, name, description: '', defaults: { name: displayName }, version: 1 };
	const outputs = [NodeConnectionTypes.Main];
	return {
		description: { ...about, group: ['transform'], inputs, outputs, properties: [] },
		execute,
	};
}

/**
 * Hands on what its static data holds, `$binary` as an item's files: nothing of the test goes through the engine's
 * parameters.
 */
const itemsNode = nodeOf('Items', [NodeConnectionTypes.Main], async function () {
	const { items } = this.getWorkflowStaticData('node');
	if (!Array.isArray(items)) return await Promise.resolve([[]]);
	const given = items as Array<IDataObject & { $binary?: IBinaryKeyData }>;
	return await Promise.resolve([
		given.map(({ $binary, ...json }, item) => ({
			json,
			pairedItem: { item },
			...($binary && { binary: $binary }),
		})),
	]);
});

/**
 * Calls its tool with each of the arguments that its static data holds, one after the other or at once, and gives what
 * the tool gives, or its error. n8n's agents before version 3 and its MCP Server Trigger call tools so.
 */
const agentInputs = [NodeConnectionTypes.Main, NodeConnectionTypes.AiTool];
const agentNode = nodeOf('Agent', agentInputs, async function () {
	const connected = await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const [tool] = connected as [{ invoke: (args: IDataObject) => Promise<string> }];
	const { calls, atOnce } = this.getWorkflowStaticData('node');
	const answers: Array<Promise<string>> = [];
	for (const args of calls as IDataObject[]) {
		const answer = tool.invoke(args).catch(({ message }: Error) => `Error: ${message}`);
		if (atOnce !== true) await answer;
		answers.push(answer);
	}
	return [(await Promise.all(answers)).map((answer) => ({ json: { answer } }))];
});
