import type { INodeProperties } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../json';
import { choiceOf, idOf, isNothing, jsonListOf, jsonObjectOf, numberOf, textOf } from './checks';
import {
	FieldError,
	type Item,
	orFieldError,
	refuseUndefined,
	stringsIn,
	type Given,
} from './expressions';
import type { Field, ValuesOf } from './form';

/*
 * The values of an item. The form is their schema: a field's description says whether the field is required, and which
 * type, bounds and choices it has. A field that is hidden, or that the workflow doesn't have, counts as empty.
 */

/** An item whose fields are read. */
interface ReadItem extends Item {
	/** Returns the value at a path in the fields, as the conditions of a form name it: `returnAll`, `/options.rawPage`. */
	valueAt: (path: string) => unknown;
}

/**
 * Reads and checks fields for one item.
 *
 * @param parameters all parameters as the workflow stores them. n8n copies them each time that it is asked for them
 * @throws FieldError
 */
export function readValues<const Fields extends readonly Field[]>(
	{ context, itemIndex }: Item,
	parameters: JsonObject,
	fields: Fields,
): ValuesOf<Fields> {
	const values: Record<string, unknown> = {};
	const read = (field: Field): unknown => {
		const { name, displayName: label } = field;
		if (name in values) return values[name];
		// n8n itself omits a hidden field only if the fields that it depends on contain no expressions.
		const stored = isShown(field, item) ? parameters[name] : undefined;
		const given = { label, stored, value: evaluated(name, label, stored, item) };
		values[name] = valueOf(field, given, item);
		return values[name];
	};
	const valueAt = (path: string): unknown => {
		const [name, ...parts] = path.replace(/^\//, '').split('.');
		const field = fields.find((each) => each.name === name);
		return parts.reduce(partOf, field && read(field));
	};
	const item = { context, itemIndex, valueAt };
	for (const field of fields) read(field);
	return values as ValuesOf<Fields>;
}

/** Decides whether the form shows a field. A condition on what isn't a field, such as `@tool`, is not met. */
function isShown({ displayOptions }: INodeProperties, { valueAt }: ReadItem): boolean {
	const { show = {}, hide = {} } = displayOptions ?? {};
	const isMet = ([path, wanted]: [string, unknown]) => [wanted].flat().includes(valueAt(path));
	return Object.entries(show).every(isMet) && !Object.entries(hide).some(isMet);
}

/** Returns the value of a parameter; null if the workflow doesn't have it. */
function evaluated(name: string, label: string, stored: unknown = null, item: Item): unknown {
	// n8n takes as long for a parameter without an expression as for one with an expression.
	if (!stringsIn(stored).some((text) => text.startsWith('='))) return stored;
	const get = (): unknown => item.context.getNodeParameter(name, item.itemIndex, null);
	return orFieldError(get, (reason) => {
		const advice = `n8n says: "${reason}". Correct the expression in this field.`;
		return new FieldError(label, 'has an invalid expression', advice);
	});
}

/** Returns the checked value of a field, or of a field within one. */
function valueOf(field: INodeProperties, given: Given, item: ReadItem): unknown {
	const { type, options = [], typeOptions = {} } = field;
	const { label, stored, value } = given;
	if (type === 'resourceLocator' && isJsonObject(value) && 'value' in value) {
		// The value may itself be a resource locator, that of another node.
		const inner = { label, stored: partOf(stored, 'value'), value: value.value };
		return valueOf(field, inner, item);
	}
	refuseUndefined(given, item);
	switch (type) {
		case 'collection': {
			const isAdded = ({ name }: INodeProperties) => hasPart(value, name) || hasPart(stored, name);
			const added = (options as INodeProperties[]).filter(isAdded);
			const shown = added.filter((member) => isShown(member, item));
			return partsOf(shown, given, item);
		}
		case 'fixedCollection':
			return recordsOf(field, given, item);
		case 'json':
			return typeOptions.isList === true ? jsonListOf(given) : jsonObjectOf(given);
		case 'number':
			return isNothing(value) ? undefined : numberOf(field, given);
		case 'boolean':
			return choiceOf(field, given) === 'true';
		case 'options':
			return choiceOf(field, given);
		default:
			return typeOptions.isId === true ? idOf(field, given) : textOf(field, given);
	}
}

/** Returns the values of the fields within a field, except for empty numbers. `prefix` precedes their labels in errors. */
function partsOf(
	fields: INodeProperties[],
	{ stored, value }: Given,
	item: ReadItem,
	prefix = '',
): JsonObject {
	const parts = fields.map((field) => {
		const { name, displayName } = field;
		// n8n leaves out a part whose expression gives undefined.
		const isGiven = hasPart(value, name) || hasPart(stored, name);
		const part = {
			label: `${prefix}${displayName}`,
			stored: partOf(stored, name),
			value: isGiven ? partOf(value, name) : null,
		};
		return [name, valueOf(field, part, item)] as const;
	});
	return Object.fromEntries(parts.filter(([, read]) => read !== undefined)) as JsonObject;
}

/** Returns the records of a list, whose form has one group of fields. */
function recordsOf(field: INodeProperties, given: Given, item: ReadItem): JsonObject[] {
	const [group] = field.options ?? [];
	if (group === undefined || !('values' in group)) return [];
	const { name, values } = group;
	const records = partOf(given.value, name);
	const parameters = [partOf(given.stored, name)].flat();
	return (isNothing(records) ? [] : [records].flat()).map((value, index) => {
		const label = `${given.label} ${index + 1}`;
		return partsOf(values, { label, stored: parameters[index], value }, item, `${label} › `);
	});
}

const hasPart = (value: unknown, name: string) => isJsonObject(value) && name in value;

/** Returns the part of a JSON value that has this name; undefined if the value has no such part. */
const partOf = (value: unknown, name: string) => (isJsonObject(value) ? value[name] : undefined);
