import { decodedPath } from '../decodedPath';

/** A field with a wrong value: "'Limit' is 0, which is too small", and what would be right. */
export class FieldError extends Error {
	constructor(
		field: string,
		problem: string,
		readonly description: string,
	) {
		super(`'${field}' ${problem}`);
	}
}

/** A value as an error's text names it. */
export function describe(value: unknown): string {
	if (value === null || value === undefined) return 'nothing';
	if (typeof value === 'string') return value.length > 40 ? 'a long text' : `"${value}"`;
	if (Array.isArray(value)) return 'a list';
	return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : 'an object';
}

/** What is wrong with an ID in a path, which could change once a proxy or a server has decoded it. */
export function problemInPath(id: string): string | undefined {
	const leadsAway = 'can change the address of the request';
	if (/^\.\.?\s*(;.*)?$/s.test(id)) return `is "${id}", which isn't an ID`;
	const parts = id.match(/[/\\]|%[\da-f]{2}/gi) ?? [];
	const bad = parts.find((part) => /[./\\;%]|(?=\p{ASCII})\p{Cc}/u.test(decodedPath(part)));
	if (bad !== undefined) return `contains "${bad}", which ${leadsAway}`;
	return /\p{Cc}/u.test(id) ? `contains a control character, which ${leadsAway}` : undefined;
}

/** What a reader doesn't see of an ID that was copied from a web page or a chat. */
const UNSEEN: Array<[pattern: RegExp, name: string]> = [
	[/\u200b/, 'a zero-width space'],
	[/[\u200c\u200d]/, 'a zero-width joiner'],
	[/\p{Bidi_Control}/u, 'a direction mark'],
	[/\u2060/, 'a word joiner'],
	[/\u00ad/, 'a soft hyphen'],
	[/\ufeff/, 'a byte order mark'],
	[/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u, 'an invisible character'],
];

/** What is wrong with any ID: a character that nobody sees. */
export function problemInId(id: string): string | undefined {
	for (const [pattern, name] of UNSEEN) {
		const { 0: character, index } = pattern.exec(id) ?? { 0: '', index: 0 };
		const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
		if (code !== undefined) return `contains ${name} (U+${code}) at position ${index + 1}`;
	}
	return undefined;
}
