import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';

import { loadPackage } from '../support/packageUnderTest';

/*
 * The forms of the node and of the credential don't change unnoticed: the snapshot contains each of their texts,
 * defaults and conditions. `npx jest -u test/node/form.test.ts` accepts a change. Workflows store the names in
 * parentheses, so a changed name breaks existing workflows.
 */

/** A field, a choice of a drop-down, or a group of fields, as n8n describes it. */
type Entry = Record<string, unknown> & { name: string; displayName?: string; type?: string };

/** Returns a line for an entry, followed by an indented line for each entry that it contains. */
function linesOf(entry: Entry, indent = ''): string[] {
	const { name, displayName = name, type, value, options, values, modes, ...rest } = entry;
	const held = [options, values, modes].flatMap((entries) => (entries ?? []) as Entry[]);
	const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
	const label = `${displayName} (${String(value ?? name)})${type === undefined ? '' : `: ${type}`}`;
	return [`${indent}${label}${more}`, ...held.flatMap((each) => linesOf(each, `${indent}  `))];
}

/** Returns the lines of a form's fields, grouped by the operations to which the fields belong. */
function describeFields(fields: object[]): string[] {
	const owners = new Map<string, string>();
	for (const { displayOptions, ...field } of fields as Array<Entry & { displayOptions?: Shown }>) {
		const { show: { resource = [], operation = [], ...show } = {}, hide } = displayOptions ?? {};
		const isAlwaysShown = hide === undefined && Object.keys(show).length === 0;
		const text = linesOf({ ...field, ...(isAlwaysShown ? {} : { show, hide }) }).join('\n');
		owners.set(text, [owners.get(text) ?? resource, ...operation].flat().join(' '));
	}
	const groups = new Map<string, string[]>();
	for (const [text, owner] of owners) {
		const heading = `-- ${owner || 'always'}`;
		groups.set(heading, [...(groups.get(heading) ?? [heading]), text]);
	}
	return [...groups.values()].flat();
}

type Shown = Record<'show' | 'hide', Record<string, unknown[]> | undefined>;

/** Returns the properties of a whole node or credential, followed by its fields. */
function describeForm(head: object, fields: object[]): string {
	const about = Object.entries(head).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
	return `\n${[...about, ...describeFields(fields)].join('\n')}\n`;
}

test('the form of the node has not changed', async () => {
	const { constructor, description } = (await loadPackage()).node;
	const { displayName, name, version, subtitle, defaults, group, inputs, outputs } = description;
	const { credentials, usableAsTool, builderHint, properties } = description;
	// Some releases of n8n add other properties to the codex.
	const { categories, alias, resources: pages } = description.codex ?? {};
	const head = {
		...{ class: constructor.name, displayName, name, version, subtitle, defaults, group, inputs },
		...{ outputs, codex: { categories, alias, resources: pages } },
		...{ credentials, usableAsTool, builderHint },
		description: description.description,
	};
	expect(describeForm(head, properties)).toMatchSnapshot();
});

test('the form of the credential has not changed', async () => {
	const credential = (await loadPackage()).credentialType('jobOrchestrationApi');
	const { constructor, displayName, name, documentationUrl, properties } = credential;
	const head = { class: constructor.name, displayName, name, documentationUrl, ...credential.test };
	expect(describeForm(head, properties)).toMatchSnapshot();
});

/*
 * The editor only saves values that differ from the default of their field, and an execution adds the defaults. A field
 * that a user has added must still exist then. In some releases of n8n, a group that equals its default is lost.
 */
test('a field that a user adds exists when the workflow runs, even if it is empty or has its default value', async () => {
	const { description } = (await loadPackage()).node;
	const collections = description.properties.flatMap(({ type, name, displayOptions, options }) => {
		const [resource, operation] = ['resource', 'operation'].map((key) => {
			return displayOptions?.show?.[key]?.[0] as string;
		});
		if (type !== 'collection') return [];
		return (options as INodeProperties[]).flatMap((option) =>
			[option.default, '', '={{ $json.given }}'].map((value) => {
				return { resource, operation, [name]: { [option.name]: value } } as INodeParameters;
			}),
		);
	});
	const record = { id: '', value: '', displayName: '', type: 'string' };
	const groups = ['input', 'output'].map((group): INodeParameters => {
		const records = [record, { ...record, id: 'b' }];
		return { resource: 'job', operation: 'create', [`${group}s`]: { [group]: records } };
	});
	expect(collections.length).toBeGreaterThan(60);
	const read = (parameters: INodeParameters, withDefaults: boolean) => {
		const { properties } = description;
		const more = [withDefaults, false, null, description] as const;
		return NodeHelpers.getNodeParameters(properties, parameters, ...more) ?? {};
	};
	for (const parameters of [...collections, ...groups]) {
		const saved = read(parameters, false);
		expect(read(saved, true)).toMatchObject(parameters);
	}
});
