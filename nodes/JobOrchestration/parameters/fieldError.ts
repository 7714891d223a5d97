import { decodedPath } from '../decodedPath';

/**
 * The error of a field with a wrong value: "'Limit' is 0, which is too small". The description says what would be
 * right.
 */
export class FieldError extends Error {
	constructor(
		field: string,
		problem: string,
		readonly description: string,
	) {
		super(`'${field}' ${problem}`);
	}
}

/** Returns a value as the text of an error names it. */
export function describe(value: unknown): string {
	if (value === null || value === undefined) return 'nothing';
	if (typeof value === 'string') return value.length > 40 ? 'a long text' : `"${value}"`;
	if (Array.isArray(value)) return 'a list';
	return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : 'an object';
}

/** Returns the problem of an ID that could change the request's path once a proxy or a server has decoded the path. */
export function problemInPath(id: string): string | undefined {
	const leadsAway = 'can change the address of the request';
	if (/^\.\.?\s*(;.*)?$/s.test(id)) return `is "${id}", which isn't an ID`;
	const parts = id.match(/[/\\]|%[\da-f]{2}/gi) ?? [];
	const bad = parts.find((part) => /[./\\;%]|(?=\p{ASCII})\p{Cc}/u.test(decodedPath(part)));
	if (bad !== undefined) return `contains "${bad}", which ${leadsAway}`;
	return /\p{Cc}/u.test(id) ? `contains a control character, which ${leadsAway}` : undefined;
}

/** Matches a character that a reader can't see in an ID that was copied from a web page or a chat. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Returns the problem of an ID that contains an invisible character. This check applies to every ID. */
export function problemInId(id: string): string | undefined {
	const { 0: character, index } = UNSEEN.exec(id) ?? { 0: '', index: 0 };
	const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
	if (code === undefined) return undefined;
	return `contains an invisible character (U+${code}) at position ${index + 1}`;
}
