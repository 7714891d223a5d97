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
