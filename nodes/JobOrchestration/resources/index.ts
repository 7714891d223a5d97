import type { INodeProperties } from 'n8n-workflow';

import { getAll } from './cluster/getAll';
import { create } from './job/create';
import { resume, stop, suspend, terminate } from './job/verbs';
import type { Operation } from './operation';

/** The resources with their operations, in the order of the form: all that the node has to be told of an operation. */
export const resources = [
	{
		value: 'cluster',
		name: 'Cluster',
		description: 'List the work clusters that jobs run on',
		defaultOperation: getAll.value,
		operations: [getAll],
	},
	{
		value: 'job',
		name: 'Job',
		description: 'Create jobs and change their state',
		defaultOperation: create.value,
		operations: [create, resume, stop, suspend, terminate],
	},
];

export { callbackHint, waitingNodeTooltip } from './job/callbackOption';

const toolNotice: INodeProperties = {
	displayName:
		'Say in <b>Tool Description</b> what the tool does and returns. Let the model define only what differs from call to call, such as Display Name, Work Cluster or Job ID, each with <b>+ Add a description</b>, and fill in the rest yourself. Set <b>On Error</b> in Settings to <i>Continue</i>. <a href="https://github.com/n8n-nodes-job-orchestration/n8n-nodes-job-orchestration/blob/main/docs/ai-agent.md" target="_blank">How to use it from an AI agent</a>.',
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
};

/** The form of the node: the resource, its operations, and the fields of each. */
export const properties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		default: 'job',
		options: resources.map(({ name, value, description }) => ({ name, value, description })),
	},
	...resources.map(
		({ value, defaultOperation, operations }): INodeProperties => ({
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			noDataExpression: true,
			default: defaultOperation,
			displayOptions: { show: { resource: [value] } },
			options: operations.map(({ name, value, action, description }) => {
				return { name, value, action, description };
			}),
		}),
	),
	toolNotice,
	...resources.flatMap(({ value, operations }) =>
		operations.flatMap((operation) =>
			operation.fields.map((field) => shownFor(field, value, operation.value)),
		),
	),
];

/** The operation that a workflow names; undefined if this version doesn't have it. */
export function findOperation(resource: string, operation: string): Operation | undefined {
	return resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation);
}

function shownFor(field: INodeProperties, resource: string, operation: string): INodeProperties {
	return {
		...field,
		displayOptions: {
			...field.displayOptions,
			show: { resource: [resource], operation: [operation], ...field.displayOptions?.show },
		},
	};
}
