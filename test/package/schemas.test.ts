import Ajv from 'ajv';
import type { INodeParameters } from 'n8n-workflow';

import { useSandbox } from '../support/fixture';
import { operations, verbOf, type KnownOperation } from '../support/operations';
import { textOf } from './repository';

/*
 * The output of each operation matches its schema. The build generates the schemas, and n8n shows them before the first
 * run.
 */

const fixture = useSandbox();

interface Schema {
	version?: number;
	type: string | string[];
	properties?: Record<string, Schema>;
}

/** Returns the schema, without permission for properties that it doesn't name. */
function closed({ properties, ...schema }: Schema): object {
	if (properties === undefined) return schema;
	const fields = Object.entries(properties).map(([name, field]) => [name, closed(field)] as const);
	return { ...schema, properties: Object.fromEntries(fields), additionalProperties: false };
}

/** Returns parameters with which an operation returns all its possible fields. */
async function parametersFor(operation: KnownOperation): Promise<INodeParameters> {
	const { kind, value, parameters } = operation;
	if (kind !== 'change')
		return parameters({
			group: 'reports',
			additionalFields: { workspace: 'ws-1', maxRetry: 1 },
		});
	const { uid: jobId } = await fixture.newJob(verbOf(value));
	return parameters({ jobId });
}

test.each(operations)(
	'the output of $resource $value has the properties of its schema, and no others',
	async (operation) => {
		const path = `__schema__/v1.0.0/${operation.resource}/${operation.value}.json`;
		const { version, ...schema } = JSON.parse(
			textOf(`dist/nodes/JobOrchestration/${path}`),
		) as Schema;
		expect(version).toBe(1);
		const { items } = await fixture.engine.run({ parameters: await parametersFor(operation) });
		expect(items.length).toBeGreaterThan(0);

		const validate = new Ajv({ allowUnionTypes: true }).compile(closed(schema));
		for (const { json } of items) expect([validate(json), validate.errors]).toEqual([true, null]);
		const given = items.flatMap(({ json }) => Object.keys(json));
		expect(given).toEqual(expect.arrayContaining(Object.keys(schema.properties ?? {})));
		// The interface document doesn't describe the response to a state change, so any JSON type is allowed.
		if (operation.kind === 'change') expect(schema.properties?.response?.type).toHaveLength(6);
	},
);
