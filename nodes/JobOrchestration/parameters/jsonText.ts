import type { JsonObject } from '../json';

/** Half of a surrogate pair, as JSON.stringify writes it: it would be changed on the way. */
export const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** JSON text without the Markdown code fence that language models put around it. */
export function withoutFence(text: string): string {
	const [, , json = text.trim()] = /^(`{3,9}|~{3,9})[^[{\n]*(.*)\1$/s.exec(text.trim()) ?? [];
	return json;
}

/** The strings and numbers in a valid JSON text, as they are written. */
export function tokensIn(json: string): string[] {
	return json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi) ?? [];
}

/**
 * Whether a number would be sent with other digits than are written, or may have lost some before: from 2^53 on, JavaScript
 * can't tell all whole numbers apart. With an exponent, as in 5.972e24, a number isn't meant to be a whole one.
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

/** By the tag, not by the class: n8n's expressions may make objects of another realm. */
const JSON_TAG = /^\[object (Null|Undefined|Boolean|Number|String|Array|Object)\]$/;

/** For JSON.stringify: throws where JSON would leave out or change a value. @param part what `toJSON` makes of it */
export function refuseLoss(this: JsonObject, key: string, part: unknown): unknown {
	const value: unknown = this[key];
	const tag = Object.prototype.toString.call(part);
	const isLost =
		(tag === '[object Number]' && !Number.isFinite(Number(part))) ||
		// An invalid date.
		(part === null && value !== null) ||
		// n8n 1.x gives it a `toJSON`.
		typeof value === 'bigint' ||
		!JSON_TAG.test(tag);
	if (isLost) throw new TypeError(`JSON has nothing for ${String(value)}`);
	return part;
}
