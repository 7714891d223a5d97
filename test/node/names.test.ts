import type { INodeProperties } from 'n8n-workflow';

import { verbs } from '../engine/operations';
import { loadPackage } from '../engine/packageUnderTest';

/*
 * The names that workflows store. A change here breaks the workflows of users.
 */

type Form = Array<Pick<INodeProperties, 'name' | 'type' | 'default'>>;

async function form(resource: string, operation: string): Promise<INodeProperties[]> {
	const { node } = await loadPackage();
	return node.description.properties.filter(({ displayOptions }) => {
		const { resource: resources, operation: operations } = displayOptions?.show ?? {};
		return resources?.includes(resource) && operations?.includes(operation);
	});
}

function brief(fields: INodeProperties[]): Form {
	return fields.map(({ name, type, default: value }) => ({ name, type, default: value }));
}

function membersOf(fields: INodeProperties[], name: string): Form {
	const options = fields.find((field) => field.name === name)?.options ?? [];
	return brief(options.filter((option): option is INodeProperties => 'type' in option));
}

test('the node is called jobOrchestration, in version 1, and can be used as a tool', async () => {
	const { node } = await loadPackage();
	expect(node.constructor.name).toBe('JobOrchestration');
	expect(node.description).toMatchObject({
		name: 'jobOrchestration',
		displayName: 'Job Orchestration',
		version: 1,
		usableAsTool: true,
		credentials: [{ name: 'jobOrchestrationApi', required: true }],
	});
});

test('the credential has its fields', async () => {
	const { credentialType } = await loadPackage();
	const type = credentialType('jobOrchestrationApi');
	expect(type.constructor.name).toBe('JobOrchestrationApi');
	expect(type.displayName).toBe('Job Orchestration API');
	expect(brief(type.properties)).toEqual([
		{ name: 'baseUrl', type: 'string', default: '' },
		{ name: 'userName', type: 'string', default: '' },
		{ name: 'password', type: 'string', default: '' },
		{ name: 'ignoreSslIssues', type: 'boolean', default: false },
		{ name: 'accessToken', type: 'hidden', default: '' },
	]);
	expect(type.properties.at(-1)?.typeOptions).toMatchObject({ expirable: true });
});

test('the resources are job and cluster, with their operations', async () => {
	const { node } = await loadPackage();
	const values = (name: string, resource?: string) =>
		node.description.properties
			.filter((field) => field.name === name)
			.filter((field) => !resource || field.displayOptions?.show?.resource?.includes(resource))
			.flatMap((field) => field.options ?? [])
			.flatMap((option) => ('value' in option ? [option.value] : []));
	expect(values('resource').sort()).toEqual(['cluster', 'job']);
	expect(values('operation', 'job').sort()).toEqual([
		'create',
		'resume',
		'stop',
		'suspend',
		'terminate',
	]);
	expect(values('operation', 'cluster')).toEqual(['getAll']);
});

test('create has its fields', async () => {
	const fields = await form('job', 'create');
	expect(brief(fields)).toEqual([
		{ name: 'namespace', type: 'string', default: 'default' },
		{ name: 'workflowUid', type: 'string', default: '' },
		{ name: 'displayName', type: 'string', default: '' },
		{ name: 'workCluster', type: 'resourceLocator', default: { mode: 'list', value: '' } },
		{ name: 'specifyParameters', type: 'options', default: 'fields' },
		{ name: 'inputs', type: 'fixedCollection', default: {} },
		{ name: 'inputsJson', type: 'json', default: '[]' },
		{ name: 'outputs', type: 'fixedCollection', default: {} },
		{ name: 'outputsJson', type: 'json', default: '[]' },
		{ name: 'group', type: 'string', default: '' },
		{ name: 'additionalFields', type: 'collection', default: {} },
		{ name: 'simplify', type: 'boolean', default: true },
		{ name: 'output', type: 'options', default: 'simplified' },
		{ name: 'outputFields', type: 'multiOptions', default: [] },
		{ name: 'options', type: 'collection', default: {} },
	]);
	expect(membersOf(fields, 'additionalFields')).toEqual([
		{ name: 'maxRetry', type: 'number', default: 0 },
		{ name: 'retryInterval', type: 'number', default: 3000 },
		{ name: 'metadata', type: 'json', default: '{}' },
		{ name: 'priority', type: 'number', default: 0 },
		{ name: 'type', type: 'string', default: 'normal' },
		{ name: 'workspace', type: 'string', default: '' },
	]);
	expect(fields.find(({ name }) => name === 'workCluster')?.modes).toMatchObject([
		{ name: 'list', typeOptions: { searchListMethod: 'searchClusters', searchable: true } },
		{ name: 'id' },
	]);
});

test.each([
	['inputs', 'input'],
	['outputs', 'output'],
])('%s are records with anchors', async (name, group) => {
	const field = (await form('job', 'create')).find((candidate) => candidate.name === name);
	expect(field).toMatchObject({
		typeOptions: { multipleValues: true },
		options: [
			{
				name: group,
				values: [
					{ name: 'id', default: '' },
					{ name: 'value', default: '' },
					{ name: 'displayName', default: '' },
					{ name: 'type', default: 'string' },
					{ name: 'controls', default: 'input' },
					{
						name: 'anchors',
						typeOptions: { multipleValues: true },
						options: [{ name: 'anchor', values: [{ name: 'source' }, { name: 'sourceAnchor' }] }],
					},
				],
			},
		],
	});
});

test.each(verbs)('%s has its fields', async (operation) => {
	expect(brief(await form('job', operation))).toEqual([
		{ name: 'namespace', type: 'string', default: 'default' },
		{ name: 'jobId', type: 'string', default: '' },
		{ name: 'options', type: 'collection', default: {} },
	]);
});

test('get many has its fields', async () => {
	const fields = await form('cluster', 'getAll');
	expect(brief(fields)).toEqual([
		{ name: 'returnAll', type: 'boolean', default: false },
		{ name: 'limit', type: 'number', default: 50 },
		{ name: 'filters', type: 'collection', default: {} },
		{ name: 'options', type: 'collection', default: {} },
	]);
	expect(membersOf(fields, 'filters')).toEqual([
		{ name: 'phase', type: 'string', default: 'Running' },
		{ name: 'type', type: 'string', default: '' },
	]);
	expect(membersOf(fields, 'options')).toEqual([
		{ name: 'concurrency', type: 'number', default: 10 },
		{ name: 'continue', type: 'string', default: '' },
		{ name: 'maxRetries', type: 'number', default: 3 },
		{ name: 'pageSize', type: 'number', default: 100 },
		{ name: 'rawPage', type: 'boolean', default: false },
		{ name: 'timeout', type: 'number', default: 60000 },
	]);
});

const shared = [
	{ name: 'concurrency', type: 'number', default: 10 },
	{ name: 'maxRetries', type: 'number', default: 3 },
	{ name: 'timeout', type: 'number', default: 60000 },
];

test.each(verbs)('%s has the options that all share', async (operation) => {
	expect(membersOf(await form('job', operation), 'options')).toEqual(shared);
});

test('create has one more: what becomes of the jobs of an execution that is stopped', async () => {
	const fields = await form('job', 'create');
	const [concurrency, ...others] = shared;
	const ifStopped = { name: 'ifStopped', type: 'options', default: 'keep' };
	expect(membersOf(fields, 'options')).toEqual([concurrency, ifStopped, ...others]);

	const options = fields.find(({ name }) => name === 'options')?.options ?? [];
	const choices = options.flatMap((option) =>
		option.name === 'ifStopped' && 'options' in option ? (option.options ?? []) : [],
	);
	expect(choices.flatMap((choice) => ('value' in choice ? [choice.value] : []))).toEqual([
		'keep',
		'stop',
		'terminate',
	]);
});
