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

/** What an ID must not be or contain, and what an error then says of it. */
type IdRule = [pattern: RegExp, problem: (match: RegExpExecArray) => string];

const LEADS_AWAY = 'can change the address of the request';

/** For an ID in a path, which could change once a proxy or a server has decoded it. */
export const WRONG_IN_PATH: IdRule[] = [
	[/^\.\.?\s*(;.*)?$/s, ([id]) => `is "${id}", which isn't an ID`],
	[/[/\\]|%(2e|2f|5c|25|3b|[01][\da-f]|7f)/i, ([bad]) => `contains "${bad}", which ${LEADS_AWAY}`],
	[/\p{Cc}/u, () => `contains a control character, which ${LEADS_AWAY}`],
];

const unseen = (pattern: RegExp, name: string): IdRule => {
	const code = (text: string) => text.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
	return [pattern, ({ 0: x, index }) => `contains ${name} (U+${code(x)}) at position ${index + 1}`];
};

/** For any ID: what a reader doesn't see of one that was copied from a web page or a chat. */
export const WRONG_IN_ID = [
	unseen(/\u200b/, 'a zero-width space'),
	unseen(/[\u200c\u200d]/, 'a zero-width joiner'),
	unseen(/\p{Bidi_Control}/u, 'a direction mark'),
	unseen(/\u2060/, 'a word joiner'),
	unseen(/\u00ad/, 'a soft hyphen'),
	unseen(/\ufeff/, 'a byte order mark'),
	unseen(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u, 'an invisible character'),
];
