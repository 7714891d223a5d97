import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { NodeHelpers, Workflow } from 'n8n-workflow';

import { loadPackage, NODE_TYPE } from '../support/packageUnderTest';
import { describeCredential, describeNode } from './form/describe';

/*
 * Every word of the form is written down in form/node.txt and form/credential.txt, and held against the package as
 * n8n loads it: whoever changes a word, a default or a condition changes its line there, and sees what it was. The
 * names in brackets are stored in workflows: changing one breaks the workflows of users.
 * By hand, or by WRITE_FORM=1 npx jest test/node/form.test.ts; then read the difference.
 */

const mayWrite = process.env.WRITE_FORM === '1' && process.env.CI === undefined;

function expectWrittenDown(text: string, file: string): void {
	const path = join(__dirname, 'form', file);
	if (mayWrite) writeFileSync(path, text);
	expect(text).toBe(readFileSync(path, 'utf8'));
}

test('the form of the node is what form/node.txt says', async () => {
	const { node } = await loadPackage();
	expectWrittenDown(describeNode(node), 'node.txt');
});

test('the form of the credential is what form/credential.txt says', async () => {
	const { credentialType } = await loadPackage();
	expectWrittenDown(describeCredential(credentialType('jobOrchestrationApi')), 'credential.txt');
});

test.each([
	[{ resource: 'job', operation: 'create', displayName: 'Report' }, 'Report'],
	[{ resource: 'job', operation: 'stop', jobId: 'job-1' }, 'job-1'],
	[{ resource: 'cluster', operation: 'getAll' }, ''],
])('below the name of a node with %j stands "%s"', async (parameters, subtitle) => {
	const { node, nodeTypes } = await loadPackage();
	const workflow = new Workflow({
		nodes: [
			{
				id: '1',
				name: 'Node',
				type: NODE_TYPE,
				typeVersion: 1,
				position: [0, 0],
				parameters,
			},
		],
		connections: {},
		active: false,
		nodeTypes,
	});
	const stored = workflow.getNode('Node');
	if (stored === null) throw new Error('The workflow has lost its node');
	expect(
		workflow.expression.getSimpleParameterValue(stored, node.description.subtitle, 'internal', {}),
	).toBe(subtitle);
});

test.each([
	[true, false],
	[false, true],
])('with Raw Page at %s, the form shows Filters: %s', async (rawPage, isShown) => {
	const { description } = (await loadPackage()).node;
	const parameters = { resource: 'cluster', operation: 'getAll', options: { rawPage } };
	const filters = description.properties.find(({ name }) => name === 'filters');
	if (filters === undefined) throw new Error('There are no filters');
	expect(
		NodeHelpers.displayParameter(parameters, filters, { typeVersion: 1 }, description, parameters),
	).toBe(isShown);
});
