import type { IExecuteFunctions } from 'n8n-workflow';
import { UserError } from 'n8n-workflow';

/*
 * The expressions in a parameter, as the workflow stores it. n8n replaces an expression that is a part of a text and
 * gives undefined with nothing: the parameter's value doesn't show it.
 */

/**
 * The error of a field with a wrong value: "'Limit' is 0, not a whole number of 1 or more". The description says what to
 * do.
 */
export class FieldError extends UserError {
	/** @param label the field's name in the form */
	constructor(label: string, problem: string, description: string) {
		super(`'${label}' ${problem}`, { description });
	}
}

/**
 * Returns the result of a function.
 *
 * @param errorOf returns the error of the field for the reason of an exception that isn't a FieldError
 * @throws FieldError
 */
export function orFieldError<Result>(
	get: () => Result,
	errorOf: (reason: string) => FieldError,
): Result {
	let thrown: unknown;
	try {
		return get();
	} catch (error) {
		thrown = error;
	}
	if (thrown instanceof FieldError) throw thrown;
	throw errorOf(thrown instanceof Error ? thrown.message : String(thrown));
}

/**
 * Matches an expression as n8n does: it ends at the first closing braces that aren't escaped. Braces are escaped by an odd
 * number of backslashes.
 */
const EXPRESSION = /(?<!(?<!\\)(?:\\\\)*\\)\{\{.*?(?<!(?<!\\)(?:\\\\)*\\)\}\}/gs;

/** Returns the expressions in a stored parameter, each with its braces. */
export function expressionsIn(stored: unknown): string[] {
	const isExpression = typeof stored === 'string' && stored.startsWith('=');
	return isExpression ? (stored.match(EXPRESSION) ?? []) : [];
}

/** An item of the node. */
export interface Item {
	context: Pick<IExecuteFunctions, 'getNode' | 'getNodeParameter' | 'evaluateExpression'>;
	itemIndex: number;
}

/** A value of a field, before it is checked. */
export interface Value {
	/** The field's name in errors. */
	label: string;
	value: unknown;
	/** The parameter as the workflow stores it; undefined if the value is a part of what an expression gives. */
	stored?: unknown;
}

/** Refuses a value that is undefined, and a text in which an expression gives undefined. */
export function refuseHoles({ label, value, stored }: Value, { context, itemIndex }: Item): void {
	const expressions = expressionsIn(stored);
	const [only = ''] = expressions;
	if (value === undefined) throw undefinedError(label, expressions[0]);
	if (typeof value !== 'string' || expressions.length === 0) return;
	// To evaluate an expression again takes a sixth of the processor time of a batch. A text that is longer than what
	// stands around its only expression shows that this expression gives something.
	const around = String(stored).length - '='.length - only.length;
	if (expressions.length === 1 && (around === 0 || value.length > around)) return;
	const hole = expressions.find(
		(each) => context.evaluateExpression(each, itemIndex) === undefined,
	);
	if (hole !== undefined) throw undefinedError(label, hole);
}

function undefinedError(label: string, expression: string | undefined): FieldError {
	const optional = expression === undefined ? 'null' : `{{ ${operandOf(expression)} ?? '' }}`;
	const advice = `Check that the item has the field that the expression refers to. If nothing is meant, use ${optional}.`;
	return new FieldError(label, 'has an expression that gives nothing (undefined)', advice);
}

/** Returns the code of an expression, in parentheses unless it is a plain path, so that an operator can follow it. */
export function operandOf(expression: string): string {
	const code = expression.slice(2, -2).trim();
	return /^[\w$.?[\]'"]+$/.test(code) ? code : `(${code})`;
}

/** Returns all texts in a stored parameter. */
export function textsIn(stored: unknown): string[] {
	if (typeof stored === 'string') return [stored];
	return Object.values(Object(stored) as object).flatMap(textsIn);
}
