import { join } from 'node:path';

import { PackageDirectoryLoader } from 'n8n-core/dist/nodes-loader/package-directory-loader';
import type { IBinaryKeyData, IDataObject, INodeType, NodeConnectionType } from 'n8n-workflow';
import { NodeConnectionTypes, NodeHelpers } from 'n8n-workflow';

export const NODE_TYPE = 'n8n-nodes-job-orchestration.jobOrchestration';
/** The type of the tool that n8n creates from the node for agents. */
export const TOOL_TYPE = `${NODE_TYPE}Tool`;
export const CREDENTIAL = 'jobOrchestrationApi';

/** The type of the node before the node under test. It passes on the items of the test. */
export const ITEMS_NODE_TYPE = 'test.items';

/** The type of a node that calls the node under test as its tool, as an agent does. */
export const AGENT_NODE_TYPE = 'test.agent';

/** The built package, as n8n loads it. */
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

/** Returns the tool that n8n creates from a node, with n8n's name for it (tool-generation/ai-tools in n8n). */
function asTool(node: INodeType): INodeType {
	const description = {
		...node.description,
		name: `${node.description.name}Tool`,
		inputs: [],
		outputs: [NodeConnectionTypes.AiTool],
	};
	return Object.assign(Object.create(node) as INodeType, { description });
}

/** Creates a node type that only the tests use. */
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
 * Returns the items in its static data; `$binary` becomes the binary data of an item. Static data is used because the
 * engine doesn't resolve expressions in it, as it does in parameters.
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
 * Calls its tool once for each entry of `calls` in its static data: one after the other or, with `atOnce`, all at the
 * same time. Returns the response of the tool, or its error. n8n's agents before version 3 and its MCP Server Trigger
 * call tools in this way.
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
