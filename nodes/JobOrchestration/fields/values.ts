import type { INodeProperties } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../json';
import { choiceOf, idOf, isNothing, jsonOf, numberOf, textOf } from './checks';
import {
	expressionsIn,
	FieldError,
	orFieldError,
	refuseGaps,
	type Source,
	textsIn,
	undefinedError,
} from './expressions';
import type { Field, ValuesOf } from './form';

/*
 * The values of an item. The form is their schema: a field's description says whether the field is required, and which
 * type, bounds and choices it has.
 */

/**
 * Reads and checks fields for one item.
 *
 * @param parameters all parameters as the workflow stores them. n8n copies them each time that it is asked for them
 * @throws FieldError
 */
export function readValues<const Fields extends readonly Field[]>(
	{ context, itemIndex, onLeftOut }: Omit<Source, 'label' | 'stored' | 'record'>,
	parameters: JsonObject,
	fields: Fields,
): ValuesOf<Fields> {
	const values: Record<string, unknown> = {};
	for (const field of fields) {
		// n8n itself omits a hidden field only if the fields that it depends on contain no expressions.
		if (!isShown(field, values)) continue;
		const { name, displayName: label } = field;
		const source = { context, itemIndex, onLeftOut, label, stored: parameters[name] };
		values[name] = valueOf(field, given(name, source), source);
	}
	return values as ValuesOf<Fields>;
}

function isShown({ displayOptions: { show = {}, hide = {} } = {} }: Field, values: object) {
	const is = (name: string, wanted: unknown) => [wanted].flat().includes(partOf(values, name));
	return (
		Object.entries(show).every(([name, wanted]) => !(name in values) || is(name, wanted)) &&
		!Object.entries(hide).some(([name, wanted]) => is(name, wanted))
	);
}

function given(name: string, { context, itemIndex, label, stored = null }: Source): unknown {
	// n8n takes as long for a parameter without an expression as for one with an expression.
	if (!textsIn(stored).some((text) => text.startsWith('='))) return stored;
	const get = (): unknown => context.getNodeParameter(name, itemIndex, null);
	return orFieldError(get, (reason) => {
		const advice = `n8n says: "${reason}". Correct the expression in this field.`;
		return new FieldError(label, 'has an invalid expression', advice);
	});
}

/** Returns the value of a field, or of a field within one. @param value the value as n8n returns it */
function valueOf(field: INodeProperties, value: unknown, source: Source): unknown {
	const { type, required, default: usual, options = [] } = field;
	const { stored, label, record } = source;
	if (type === 'resourceLocator' && isJsonObject(value) && 'value' in value) {
		// The value may itself be a resource locator, that of another node.
		return valueOf(field, value.value, { ...source, stored: partOf(stored, 'value') });
	}
	if (value === undefined && required !== true) {
		// In an input or output, nothing is left out.
		const isInList = record !== undefined || type === 'fixedCollection' || usual === '[]';
		if (isInList) throw undefinedError(label, expressionsIn(stored)[0]);
		source.onLeftOut(label);
	}
	if (typeof value === 'string') refuseGaps(source);

	switch (type) {
		case 'collection':
			return membersOf(options as INodeProperties[], value, source);
		case 'fixedCollection':
			return recordsOf(field, value, source);
		case 'json':
			return jsonOf(field, value, label, stored);
		case 'number':
			return isNothing(value) ? undefined : numberOf(field, value, label);
		case 'boolean':
			return choiceOf(field, value, label) === 'true';
		case 'options':
			return choiceOf(field, value, label);
		default:
			if (Array.isArray(usual)) {
				return eachOf(value, source, (...text) => valueOf({ ...field, default: '' }, ...text));
			}
			return (field.typeOptions?.isId === true ? idOf : textOf)(field, value, label);
	}
}

/** Returns the values of the members that a collection has, or of all fields of a record. */
function membersOf(fields: INodeProperties[], value: unknown, source: Source): JsonObject {
	const values = isJsonObject(value) ? value : {};
	const members = fields.flatMap((field) => {
		const { name, displayName } = field;
		const stored = partOf(source.stored, name);
		const isThere = name in values || expressionsIn(stored).length > 0;
		if (source.record === undefined && !isThere) return [];
		const label = source.record === undefined ? displayName : `${source.record} › ${displayName}`;
		const member = valueOf(field, isThere ? values[name] : null, { ...source, label, stored });
		return member === undefined ? [] : [[name, member] as const];
	});
	return Object.fromEntries(members) as JsonObject;
}

/** Returns the records of a list, whose form has one group of fields. */
function recordsOf({ options: [group] = [] }: INodeProperties, value: unknown, source: Source) {
	if (group === undefined || !('values' in group)) return [];
	const { name, values } = group;
	const from = { ...source, stored: partOf(source.stored, name) };
	return eachOf(partOf(value, name), from, (...record) => membersOf(values, ...record));
}

/** Returns the value of each element of a list. */
function eachOf(
	list: unknown,
	source: Source,
	valueOfElement: (element: unknown, source: Source) => unknown,
): unknown[] {
	const parameters = [source.stored].flat();
	const elements = isNothing(list) ? [] : [list].flat();
	return elements.map((element, index) => {
		const label = `${source.label} ${index + 1}`;
		const from = { ...source, record: label, label, stored: parameters[index] };
		return valueOfElement(element, from);
	});
}

/** Returns the part of a JSON value that has this name; undefined if the value has no such part. */
const partOf = (value: unknown, name: string) => (isJsonObject(value) ? value[name] : undefined);
