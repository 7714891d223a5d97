import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import Ajv from 'ajv';
import type { INodeParameters } from 'n8n-workflow';

import { create, useSandbox } from '../support/fixture';
import type { KnownOperation } from '../support/operations';
import { operations, stateChanges, verbOf } from '../support/operations';
import { makeReadyFor } from '../sandbox/states';

/*
 * What n8n shows of a node before it has run: the schemas that the build makes, held against what the node gives.
 */

const fixture = useSandbox();

const folder = join(__dirname, '../../dist/nodes/JobOrchestration/__schema__/v1.0.0');

interface Schema {
	type: string | string[];
	properties?: Record<string, Schema>;
}

function readSchema(resource: string, operation: string): Schema & { version: number } {
	return JSON.parse(readFileSync(join(folder, resource, `${operation}.json`), 'utf8')) as Schema & {
		version: number;
	};
}

/** The schema, with nothing allowed that it doesn't name. */
function closed(schema: Schema): object {
	const { type, properties } = schema;
	if (properties === undefined) return { ...schema };
	const fields = Object.entries(properties).map(([name, field]) => [name, closed(field)] as const);
	return { type, properties: Object.fromEntries(fields), additionalProperties: false };
}

/** Parameters with which each operation gives all that it can. */
async function parametersFor({
	kind,
	value,
	parameters,
}: KnownOperation): Promise<INodeParameters> {
	if (kind === 'read') return parameters();
	if (kind === 'create') {
		return parameters({ group: 'reports', additionalFields: { workspace: 'ws-1', maxRetry: 1 } });
	}
	await fixture.engine.run({ parameters: create() });
	const [job] = fixture.sandbox.store.jobs.values();
	if (job === undefined) throw new Error('No job was made');
	makeReadyFor(verbOf(value), job);
	return parameters({ jobId: job.uid });
}

test.each(operations)(
	'$resource $value gives what its schema says, and nothing else',
	async (operation) => {
		const { version, ...schema } = readSchema(operation.resource, operation.value);
		expect(version).toBe(1);
		const parameters = await parametersFor(operation);
		const { items, error } = await fixture.engine.run({ parameters });
		expect(error).toBeUndefined();
		expect(items.length).toBeGreaterThan(0);

		const validate = new Ajv({ allowUnionTypes: true }).compile(closed(schema));
		for (const { json } of items) {
			expect([validate(json), validate.errors]).toEqual([true, null]);
		}
		const given = new Set(items.flatMap(({ json }) => Object.keys(json)));
		expect(Object.keys(schema.properties ?? {}).filter((name) => !given.has(name))).toEqual([]);
	},
);

test('after Create there is the ID that the next operation wants', () => {
	expect(readSchema('job', 'create').properties?.metadata).toEqual({
		type: 'object',
		properties: { namespace: { type: 'string' }, uid: { type: 'string' } },
	});
});

test.each(stateChanges)(
	'after $value there may be any answer: the interface shows none',
	({ resource, value }) => {
		expect(readSchema(resource, value).properties?.response).toEqual({
			type: ['null', 'object', 'array', 'string', 'number', 'boolean'],
		});
	},
);
