import type { INodeProperties } from 'n8n-workflow';

import { cluster } from './cluster';
import { job } from './job';
import type { Operation, Resource } from './operation';

/** The resources with their operations, in the order of the form. */
export const resources: Resource[] = [cluster, job];

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
	...resources.map(operationField),
	...resources.flatMap(({ value, operations }) =>
		operations.flatMap((operation) =>
			operation.fields.map((field) => shownFor(field, value, operation.value)),
		),
	),
];

const actions = resources.flatMap(({ value, operations }) =>
	operations.map((operation) => [`${value}:${operation.value}`, operation.action]),
);

/** An n8n expression for the line below the node's name on the canvas: the action of its operation. */
export const subtitle = `={{ ${JSON.stringify(Object.fromEntries(actions))}[$parameter["resource"] + ":" + $parameter["operation"]] }}`;

/** The operation that a workflow names; undefined where there is none of that name. */
export function findOperation(resource: string, operation: string): Operation | undefined {
	return resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation);
}

function operationField({
	value: resource,
	defaultOperation,
	operations,
}: Resource): INodeProperties {
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: defaultOperation,
		displayOptions: { show: { resource: [resource] } },
		options: operations
			.map(({ name, value, action, description }) => ({ name, value, action, description }))
			.sort((a, b) => (a.name < b.name ? -1 : 1)),
	};
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
