import type { INodeProperties } from 'n8n-workflow';

import { choice } from '../fields/form';
import { getAll } from './cluster/getAll';
import { create } from './job/create';
import { verbs } from './job/verbs';
import type { Operation } from './operation';

/*
 * This folder has one file per operation: its fields, beside what it does with their values. `operation.ts` says what an
 * operation is, and has the fields that several of them share; `list.ts` has the fields of all operations that list
 * something, and reads their lists. This file makes the node's form of all operations.
 */

/**
 * The resources with their operations, in the order of the form. An operation needs no other registration in the node.
 */
export const resources = [
	{
		value: 'cluster',
		name: 'Cluster',
		description: 'List the work clusters that jobs run on',
		operations: [getAll],
	},
	{
		value: 'job',
		name: 'Job',
		description: 'Create jobs and change their state',
		operations: [create, ...verbs],
	},
];

const toolNotice: INodeProperties = {
	displayName:
		'Say in <b>Tool Description</b> what the tool does and returns. Let the model define only what differs from call to call, such as Display Name, Work Cluster or Job ID, each with <b>+ Add a description</b>, and fill in the rest yourself. Give the agent one item per run: some agents give every call the fields of the first item. Set <b>On Error</b> in Settings to <i>Continue</i>. <a href="https://github.com/n8n-nodes-job-orchestration/n8n-nodes-job-orchestration/blob/main/docs/ai-agent.md" target="_blank">How to use it from an AI agent</a>.',
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
};

/** The form of the node: the resource, its operations, and the fields of each operation. */
export const properties: INodeProperties[] = [
	choice('Resource', 'resource', resources, { noDataExpression: true, default: 'job' }),
	...resources.map(({ value: resource, operations }) =>
		choice('Operation', 'operation', operations, {
			noDataExpression: true,
			displayOptions: { show: { resource: [resource] } },
		}),
	),
	toolNotice,
	...resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value: operation, fields, options }) =>
			[...fields, options].map(({ displayOptions, ...field }): INodeProperties => {
				const show = { resource: [resource], operation: [operation], ...displayOptions?.show };
				return { ...field, displayOptions: { ...displayOptions, show } };
			}),
		),
	),
];

/**
 * Returns the operation that a workflow names.
 *
 * @throws Error, with a description, if this version doesn't have the operation
 */
export function findOperation(resource?: unknown, operation?: unknown): Operation {
	const known = resources.find(({ value }) => value === resource);
	const found = known?.operations.find(({ value }) => value === operation);
	if (found !== undefined) return found;
	const named = `resource "${String(resource ?? '')}"`;
	const noOperation = `The ${named} has no operation "${String(operation)}"`;
	const description = "Choose the node's Resource and Operation again, each from its list.";
	throw Object.assign(new Error(known ? noOperation : `There is no ${named}`), { description });
}
