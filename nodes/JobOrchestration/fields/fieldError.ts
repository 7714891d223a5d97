/**
 * The error of a field with a wrong value: "'Limit' is 0, not a whole number of 1 or more". The description says what to
 * do.
 */
export class FieldError extends Error {
	/** @param label the field's name in the form */
	constructor(
		label: string,
		problem: string,
		readonly description: string,
	) {
		super(`'${label}' ${problem}`);
	}
}
