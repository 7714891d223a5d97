import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../json';

/*
 * The functions that describe a field of the form. The description is also the rule for reading the field: `readValues`
 * checks what it says (required, bounds, choices, default), and TypeScript knows the type of the value.
 */

declare const VALUE: unique symbol;

/** A field of the form. `Value` is the type of the value that `readValues` returns for it. */
export type Field<Name extends string = string, Value = unknown> = INodeProperties & {
	name: Name;
	/** No field has this property. It only carries the type. */
	[VALUE]?: Value;
};

/** The values of some fields, by the names of the fields. */
export type ValuesOf<Fields extends readonly Field[]> = {
	[Each in Fields[number] as Each['name']]: Each extends Field<string, infer Value> ? Value : never;
};

/** The values of those fields of a collection that a user has added and filled in. */
export type Added<Members extends readonly Field[]> = {
	[Name in keyof ValuesOf<Members>]?: Exclude<ValuesOf<Members>[Name], undefined>;
};

/** Returns the function for one kind of field. `more` is everything else that n8n knows about a field. */
const fieldOf =
	<Value>(type: INodeProperties['type'], usual: INodeProperties['default'], always = {}) =>
	<const Name extends string>(
		displayName: string,
		name: Name,
		more: Partial<INodeProperties> = {},
	): Field<Name, Value> => ({ type, default: usual, ...always, ...more, displayName, name });

/** A text, which is sent as it is. */
export const text = fieldOf<string>('string', '');

/** An ID: a text without spaces around it, which can stand in the path of a request, or '' if it is left empty. */
export const id = fieldOf<string>('string', '', { typeOptions: { isId: true } });

/** A number. It is undefined if it is left empty. With `numberPrecision: 0`, it is a whole number. */
export const number = fieldOf<number | undefined>('number', 0);

/** A boolean. It has its default if it is left empty. */
export const toggle = fieldOf<boolean>('boolean', false);

/** A JSON object, as text or from an expression. */
export const jsonObject = fieldOf<JsonObject>('json', '{}');

/** A list of JSON objects, as text or from an expression. */
export const jsonList = fieldOf<JsonObject[]>('json', '[]', { typeOptions: { isList: true } });

/** One of several choices. It has its default, which is usually the first choice, if it is left empty. */
export const choice = <const Name extends string, const Choice extends string>(
	displayName: string,
	name: Name,
	offered: ReadonlyArray<{ value: Choice; name: string; description?: string; action?: string }>,
	more: Partial<INodeProperties> = {},
) => {
	const options = offered.map(({ value, name: label, action, description }) => ({
		name: label,
		value,
		...(action !== undefined && { action }),
		...(description !== undefined && { description }),
	}));
	return fieldOf<Choice>('options', offered[0]?.value, { options })(displayName, name, more);
};

/** A collection of fields, of which a user adds those that are needed. The others are left out. */
export const collection = <const Name extends string, Members extends Field[]>(
	displayName: string,
	name: Name,
	options: Members,
	more: Partial<INodeProperties> = {},
) => fieldOf<Added<Members>>('collection', {}, { options })(displayName, name, more);

/** A list of records, each with all of the fields. Fields of a record that aren't required are hidden at first. */
export const records = <const Name extends string, Members extends Field[]>(
	displayName: string,
	name: Name,
	record: { displayName: string; name: string; values: Members },
	more: Partial<INodeProperties> = {},
) => {
	const typeOptions = {
		multipleValues: true,
		hideOptionalFields: true,
		addOptionalFieldButtonText: 'Add Field',
	};
	const always = { typeOptions, options: [record] };
	return fieldOf<Array<ValuesOf<Members>>>('fixedCollection', {}, always)(displayName, name, more);
};
