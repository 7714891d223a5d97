import type { JsonObject } from '../json';
import { expressionsIn } from './expressions';
import { FieldError } from './fieldError';

/** How many characters of a text an error shows before and after the fault. */
const AROUND = 25;

/**
 * Parses JSON text, which may be in the Markdown code fence that language models put around it.
 *
 * @param label the name of the field in errors
 * @param stored the parameter as the workflow stores it
 * @throws FieldError if the text is not valid JSON, or has a number that can't be sent
 */
export function parseJson(text: string, label: string, stored: unknown): unknown {
	const trimmed = text.trim();
	const [, , json = trimmed] = /^(`{3,9}|~{3,9})[^[{\n]*(.*)\1$/s.exec(trimmed) ?? [];
	let thrown: unknown;
	try {
		return JSON.parse(json, refuser(label));
	} catch (error) {
		thrown = error;
	}
	if (thrown instanceof FieldError) throw thrown;
	const reason = thrown instanceof Error ? thrown.message : String(thrown);
	const [expression] = expressionsIn(stored);
	const inserted = `{{ JSON.stringify(${expression?.slice(2, -2).trim()}) }}`;
	const advice = [
		`${reason}${around(json, reason)}. Check quotes, commas and brackets.`,
		expression &&
			`If the value of an expression may contain quotes or line breaks, put it in by ${inserted}, without quotes around it.`,
	];
	throw new FieldError(label, 'is not valid JSON', advice.filter(Boolean).join(' '));
}

/** Returns the text around the fault, if the reason that JavaScript gives doesn't contain it. */
function around(json: string, reason: string): string {
	const position = /at position (\d+)/.exec(reason)?.[1];
	const at = position === undefined && reason.includes(' end ') ? json.length : Number(position);
	if (Number.isNaN(at)) return '';
	const part = json.slice(Math.max(0, at - AROUND), at + AROUND);
	return `, at …${part.replace(/\s+/g, ' ')}…`;
}

/**
 * Returns a value as JSON represents it: a date is ISO 8601 text.
 *
 * @param label the name of the field in errors
 * @throws FieldError if JSON would leave out or change a part of the value
 */
export function toJson(value: unknown, label: string): unknown {
	if (typeof value === 'string') return value;
	let thrown: unknown;
	try {
		return JSON.parse(JSON.stringify(value, refuser(label)));
	} catch (error) {
		thrown = error;
	}
	if (thrown instanceof FieldError) throw thrown;
	const reason = thrown instanceof Error ? thrown.message : String(thrown);
	throw new FieldError(label, "can't be sent as JSON", `${reason}. ${CHECK}`);
}

const CHECK = 'Check the expression that the field holds.';

/** Returns a function for JSON.parse and JSON.stringify that refuses each part of a value that JSON can't represent. */
function refuser(label: string) {
	return function refuseLoss(this: JsonObject, key: string, part: unknown): unknown {
		const value: unknown = this[key];
		const isElement = Array.isArray(this);
		const where =
			key === '' ? 'is' : `has ${isElement ? `at position ${Number(key) + 1}` : `as "${key}"`}`;
		// From 2^53 on, JavaScript can't tell all whole numbers apart.
		if (Number.isInteger(part) && !Number.isSafeInteger(part)) {
			const advice = 'Give it as text: put it in quotes where it comes from.';
			throw new FieldError(
				label,
				`${where} ${String(part)}, a number with too many digits`,
				advice,
			);
		}
		if (part === undefined) {
			const advice = `${CHECK} If nothing is meant, let it give null.`;
			throw new FieldError(label, `${where} nothing (undefined)`, advice);
		}
		// An invalid date is null as JSON.
		const isNumber = typeof part !== 'number' || Number.isFinite(part);
		const isKept = typeof part !== 'function' && (part !== null || value === null);
		if (isNumber && isKept) return part;
		throw new FieldError(label, `${where} ${String(value)}, which JSON can't represent`, CHECK);
	};
}

/** Returns a JSON value as text: a list or an object as JSON, and nothing as ''. */
export const toText = (value: unknown) =>
	typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
