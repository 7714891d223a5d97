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

		// This removes the properties that the schema doesn't name.
		const options = { allowUnionTypes: true, removeAdditional: 'all' } as const;
		const validate = new Ajv(options).compile(schema);
		for (const { json } of items) {
			const named = structuredClone(json);
			expect([validate(named), validate.errors, named]).toEqual([true, null, json]);
		}
		const given = items.flatMap(({ json }) => Object.keys(json));
		expect(given).toEqual(expect.arrayContaining(Object.keys(schema.properties ?? {})));
		// The interface document doesn't describe the response to a state change, so any JSON type is allowed.
		if (operation.kind === 'change') expect(schema.properties?.response?.type).toHaveLength(6);
	},
);
