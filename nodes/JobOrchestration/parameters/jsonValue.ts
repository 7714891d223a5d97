import type { JsonObject } from '../json';
import { FieldError } from './fieldError';

/**
 * Parses JSON text, which may be in a Markdown code fence.
 *
 * @param field the label of the field that holds the text
 * @throws FieldError if the text is not valid JSON, or if a part of it would be lost or changed
 */
export function parseJson(text: string, field: string): unknown {
	const json = withoutFence(text);
	const advice = 'Check quotes, commas and brackets.';
	const parse = (): unknown => JSON.parse(json);
	const value = orRefuse(field, 'is not valid JSON', advice, parse);
	const sent = JSON.stringify(value);
	refuseLostDigits(json, 'would lose', field);
	refuseHalfCharacter(sent, field);
	if (tokensIn(json).length === tokensIn(sent).length) return value;
	throw new FieldError(
		field,
		'has an object with the same name twice',
		'Remove one: only the last would be sent.',
	);
}

/**
 * Returns a value as JSON represents it. Text stays as it is.
 *
 * @param field the label of the field that holds the value
 * @throws FieldError if JSON would leave out or change a part of the value
 */
export function toJson(value: unknown, field: string): unknown {
	const advice = 'Check the expression that the field holds.';
	const convert = () => JSON.stringify(value, refuseLoss);
	const json = orRefuse(field, "can't be sent as JSON", advice, convert);
	refuseHalfCharacter(json, field);
	if (typeof value === 'string') return value;
	refuseLostDigits(json, 'has lost', field);
	return JSON.parse(json);
}

function orRefuse<Result>(
	field: string,
	problem: string,
	advice: string,
	convert: () => Result,
): Result {
	let reason: string;
	try {
		return convert();
	} catch (error) {
		reason = error instanceof Error ? error.message : String(error);
	}
	throw new FieldError(field, problem, `${reason}. ${advice}`);
}

function refuseLostDigits(json: string, lose: 'would lose' | 'has lost', field: string): void {
	const number = tokensIn(json).find((token) => !token.startsWith('"') && losesDigits(token));
	if (number === undefined) return;
	const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
	throw new FieldError(
		field,
		`${number === json ? 'is' : 'contains'} ${shown}, a number that ${lose} digits`,
		'Give it as text: put it in quotes where it comes from.',
	);
}

function refuseHalfCharacter(json: string, field: string): void {
	if (!HALF_CHARACTER.test(json)) return;
	throw new FieldError(
		field,
		'contains an incomplete character, such as half of an emoji',
		'Text was cut in the middle of a character. Correct the expression or the data.',
	);
}

/** Matches half of a surrogate pair, as JSON.stringify writes it. It would be changed on its way to the service. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Returns JSON text without the Markdown code fence that language models put around it. */
function withoutFence(text: string): string {
	const [, , json = text.trim()] = /^(`{3,9}|~{3,9})[^[{\n]*(.*)\1$/s.exec(text.trim()) ?? [];
	return json;
}

/** Returns the strings and numbers in a valid JSON text, as they are written. */
function tokensIn(json: string): string[] {
	return json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi) ?? [];
}

/**
 * Returns whether a number would be sent with digits other than those that are written, or may have lost digits before.
 * From 2^53 on, JavaScript can't tell all whole numbers apart. A number with an exponent, such as 5.972e24, isn't meant
 * to be a whole number.
 */
export function losesDigits(written: string): boolean {
	const number = Number(written);
	const isWhole = /^-?\d+$/.test(written);
	const digits = significantDigits(written);
	const isKept = significantDigits(number.toExponential()).padEnd(digits.length, '0') === digits;
	return !isKept || (isWhole && Math.abs(number) > Number.MAX_SAFE_INTEGER);
}

const significantDigits = (number: string) =>
	number.replace(/e.*|[^\de]/gis, '').replace(/^0+/, '');

/**
 * Matches the tags of the types that JSON has. Types are recognised by the tag, not by the class, because n8n's
 * expressions may create objects of another realm.
 */
const JSON_TAG = /^\[object (Null|Undefined|Boolean|Number|String|Array|Object)\]$/;

/**
 * Throws if JSON would leave out or change a value. This is a replacer for JSON.stringify.
 *
 * @param part the value as its `toJSON` returns it
 */
function refuseLoss(this: JsonObject, key: string, part: unknown): unknown {
	const value: unknown = this[key];
	const tag = Object.prototype.toString.call(part);
	const isLost =
		(tag === '[object Number]' && !Number.isFinite(Number(part))) ||
		// An invalid date, whose `toJSON` returns null.
		(part === null && value !== null) ||
		// JSON has no bigint, but n8n 1.x gives it a `toJSON`.
		typeof value === 'bigint' ||
		!JSON_TAG.test(tag);
	if (isLost) throw new TypeError(`JSON has nothing for ${String(value)}`);
	return part;
}
