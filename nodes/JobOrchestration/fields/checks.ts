import type { INodeProperties } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../json';
import { MAX } from '../texts';
import { expressionsIn, FieldError, orFieldError, type Given } from './expressions';

/*
 * This folder reads the fields of an item by what the form says about them. `form.ts` has a function for each kind of
 * field. What it returns is the field that n8n shows, and also the rule for reading it. `values.ts` reads the fields of an
 * item, this file checks a single value, and `expressions.ts` has what the expressions in a field tell. A wrong value is a
 * FieldError, which names the field and says what to do.
 */

/** Matches what no ID has: what could change the path of a request, and what a reader can't see. */
const NOT_IN_ID = /[/\\%;\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\.\.?$/u;

/** Matches a number as people write it. 0x10 is not such a number. */
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

const CHECK = 'Check the expression in the field.';

/** Returns whether there is no value. 0 and false are values. */
export const isNothing = (value: unknown) => value === undefined || value === null || value === '';

/** Returns a JSON value as text: a list or an object as JSON, and nothing as ''. */
export const toText = (value: unknown) =>
	typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');

/** Returns a text. Numbers and booleans become text, dates ISO 8601, and, where the form says so, lists JSON. */
export function textOf(field: INodeProperties, { label, value }: Given): string {
	const { required, typeOptions } = field;
	const plain = toJson(value ?? '', label);
	if (typeof plain === 'object' && plain !== null && typeOptions?.acceptsJson !== true) {
		const advice =
			'Enter text. If the field contains an expression, make it refer to a single value of the item.';
		throw unlike(plain, 'text', label, advice);
	}
	const text = toText(plain);
	if (required !== true || text.trim() !== '') return text;
	const advice =
		'Fill it in. If it contains an expression, check that the item has the field that the expression refers to.';
	throw new FieldError(label, 'is empty', advice);
}

export function idOf(field: INodeProperties, given: Given): string {
	const id = textOf(field, given).trim();
	const { 0: found, index = 0 } = NOT_IN_ID.exec(id) ?? {};
	if (found === undefined) return id;
	const what = /[!-~]/.test(found) ? `"${found}"` : 'an invisible character';
	const advice =
		'Enter the ID alone, as the service shows it. An ID isn\'t "." or "..", and has no slash, backslash, %, ; or invisible character.';
	throw new FieldError(given.label, `has ${what} at position ${index + 1}`, advice);
}

export function numberOf(field: INodeProperties, { label, value }: Given): number {
	const { minValue, maxValue, numberPrecision } = field.typeOptions ?? {};
	const number = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
	// From 2^53 on, JavaScript can't tell all whole numbers apart.
	const isExact = Number.isInteger(number) ? Number.isSafeInteger(number) : numberPrecision !== 0;
	const isWithin =
		typeof number === 'number' &&
		number >= (minValue ?? -Number.MAX_VALUE) &&
		number <= (maxValue ?? Number.MAX_VALUE);
	if (isWithin && isExact) return number;
	const least = minValue === undefined ? '' : ` of ${minValue} or more`;
	const bounds = maxValue === undefined ? least : ` from ${minValue} to ${maxValue}`;
	const wanted = `a ${numberPrecision === 0 ? 'whole ' : ''}number${bounds}`;
	const isTooLong = isWithin && Number.isInteger(number);
	throw unlike(value, isTooLong ? `${wanted} with at most 15 digits` : wanted, label);
}

/** Returns one of the choices, which are true and false for a boolean; the default if there is no value. */
export function choiceOf(field: INodeProperties, { label, value }: Given): string {
	const { type, default: usual, options = [] } = field;
	const offered = options.flatMap((option) => ('value' in option ? String(option.value) : []));
	const choices = type === 'boolean' ? ['true', 'false'] : offered;
	const text = toText(isNothing(value) ? usual : value);
	if (choices.includes(text)) return text;
	throw unlike(text, `one of these: ${choices.join(', ')}`, label);
}

/** Returns a JSON object, which may be given as text; {} if there is no value. */
export function jsonObjectOf(given: Given): JsonObject {
	const json = jsonOf(given) ?? {};
	if (isJsonObject(json)) return json;
	throw unlike(json, 'an object, such as { "team": "data" }', given.label);
}

/** Returns a list of JSON objects, which may be given as text; [] if there is no value. */
export function jsonListOf(given: Given): JsonObject[] {
	const json = jsonOf(given) ?? [];
	const wanted = 'a list of objects, such as [{ "id": "input-1", "default": "5" }]';
	if (!Array.isArray(json)) throw unlike(json, wanted, given.label);
	const wrong = json.findIndex((element) => !isJsonObject(element));
	if (wrong < 0) return json as JsonObject[];
	throw unlike(json[wrong], 'an object', `${given.label} ${wrong + 1}`, `Enter ${wanted}.`);
}

/** Returns a JSON value, which may be given as text; undefined if the field is empty. */
function jsonOf(given: Given): unknown {
	const { label, value } = given;
	if (isNothing(value) || (typeof value === 'string' && value.trim() === '')) return undefined;
	return toJson(typeof value === 'string' ? parseJson(value, given) : value, label);
}

function unlike(value: unknown, wanted: string, label: string, advice = `Enter ${wanted}.`) {
	const [what = ''] = wanted.split(', such as');
	return new FieldError(label, `is ${describe(value)}, not ${what}`, advice);
}

/** Returns a value as the text of an error names it. */
function describe(value: unknown): string {
	if (typeof value === 'string')
		return value.length > MAX.valueInTitle ? 'a long text' : `"${value}"`;
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' && value !== null ? 'an object' : String(value ?? 'nothing');
}

/** Parses JSON text, which may be in the Markdown code fence that language models put around it. */
function parseJson(text: string, { label, stored }: Given): unknown {
	const trimmed = text.trim();
	const [, , json = trimmed] = /^(`{3,9}|~{3,9})[^[{\n]*(.*)\1$/s.exec(trimmed) ?? [];
	const parse = (): unknown => JSON.parse(json);
	return orFieldError(parse, (reason) => {
		const [expression] = expressionsIn(stored);
		const inserted = `{{ JSON.stringify(${expression?.slice(2, -2).trim()}) }}`;
		const ofExpression = ` If the value of an expression may contain quotes or line breaks, put it in by ${inserted}, without quotes around it.`;
		const advice = `${reason}. Check quotes, commas and brackets.`;
		return new FieldError(label, 'is not valid JSON', advice + (expression ? ofExpression : ''));
	});
}

/**
 * Returns a value as JSON represents it: a date is ISO 8601 text.
 *
 * @throws FieldError if JSON would change or omit a part of the value
 */
function toJson(value: unknown, label: string): unknown {
	if (typeof value === 'string') return value;
	function keep(this: JsonObject, key: string, inJson: unknown): unknown {
		const loss = lossOf(this[key], inJson);
		if (loss === undefined) return inJson;
		const place = Array.isArray(this) ? `at position ${Number(key) + 1}` : `as "${key}"`;
		throw new FieldError(label, `${key === '' ? 'is' : `has ${place}`} ${loss.what}`, loss.advice);
	}
	const convert = (): unknown => JSON.parse(JSON.stringify(value, keep));
	return orFieldError(
		convert,
		(reason) => new FieldError(label, "can't be sent as JSON", `${reason}. ${CHECK}`),
	);
}

/**
 * Returns what a part of a value is that JSON can't represent, and what to do about it; undefined if JSON can.
 *
 * @param inJson what JSON.stringify takes for the part: an invalid date is null
 */
function lossOf(part: unknown, inJson: unknown): { what: string; advice: string } | undefined {
	if (Number.isInteger(inJson) && !Number.isSafeInteger(inJson)) {
		const advice = 'Give it as text: put it in quotes where it comes from.';
		return { what: `${String(inJson)}, a number with too many digits`, advice };
	}
	if (inJson === undefined) {
		const advice = `${CHECK} If nothing is meant, let it give null.`;
		return { what: 'nothing (undefined)', advice };
	}
	const isNumber = typeof inJson !== 'number' || Number.isFinite(inJson);
	const isKept = typeof inJson !== 'function' && (inJson !== null || part === null);
	if (isNumber && isKept) return undefined;
	return { what: `${String(part)}, which JSON can't represent`, advice: CHECK };
}
