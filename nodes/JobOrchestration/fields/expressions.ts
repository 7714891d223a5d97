import type { IExecuteFunctions } from 'n8n-workflow';
import { UserError } from 'n8n-workflow';

import { MAX } from '../texts';

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

/** What is given for a field, before it is checked. */
export interface Given {
	/** The field's name in errors. */
	label: string;
	value: unknown;
	/** The parameter as the workflow stores it; undefined if the value is a part of what an expression gives. */
	stored?: unknown;
}

/** Refuses a value that is undefined, and a text in which an expression gives undefined. */
export function refuseUndefined(
	{ label, value, stored }: Given,
	{ context, itemIndex }: Item,
): void {
	const expressions = expressionsIn(stored);
	const [only = ''] = expressions;
	if (value === undefined) throw undefinedError(label, expressions[0]);
	if (typeof value !== 'string' || expressions.length === 0) return;
	// To evaluate an expression again takes a sixth of the processor time of a batch. A text that is longer than what
	// stands around its only expression shows that this expression gives something.
	const around = String(stored).length - '='.length - only.length;
	if (expressions.length === 1 && (around === 0 || value.length > around)) return;
	const givesNothing = (each: string) => context.evaluateExpression(each, itemIndex) === undefined;
	const found = expressions.find(givesNothing);
	if (found !== undefined) throw undefinedError(label, found);
}

function undefinedError(label: string, expression: string | undefined): FieldError {
	const optional = expression === undefined ? 'null' : `{{ ${operandOf(expression)} ?? '' }}`;
	const advice = `Check that the item has the field that the expression refers to. If nothing is meant, use ${optional}.`;
	return new FieldError(label, 'has an expression that gives nothing (undefined)', advice);
}

/** Returns the code of an expression, in parentheses unless it is a plain path, so that an operator can follow it. */
function operandOf(expression: string): string {
	const code = expression.slice(2, -2).trim();
	return /^[\w$.?[\]'"]+$/.test(code) ? code : `(${code})`;
}

/**
 * Returns how to correct one item's value in the node itself, because n8n's Retry keeps the items as they came.
 *
 * @param said the texts of the error, which name the wrong value: this node's own ones, with a text in quotes or
 * parentheses, and the words of the service. The first that names the value of an expression counts
 * @returns undefined if no text names the value of an expression
 */
export function correctionOf(
	{ context, itemIndex }: Item,
	said: { own: string[]; service: string },
): string | undefined {
	const evaluated = (expression: string): unknown => {
		try {
			return context.evaluateExpression(expression, itemIndex);
		} catch {
			return undefined;
		}
	};
	const expressions = stringsIn(context.getNode().parameters)
		.flatMap(expressionsIn)
		.map((expression) => ({ expression, value: evaluated(expression) }));
	const { own, service } = said;
	const [found] = [
		...own.flatMap((text) => expressions.filter(({ value }) => isNamedIn(text, value, true))),
		...expressions.filter(({ value }) => isNamedIn(service, value)),
	];
	if (found === undefined) return undefined;
	const operand = operandOf(found.expression);
	const literal = `'${String(found.value).replace(/['\\]/g, '\\$&')}'`;
	const condition = `${operand} === ${typeof found.value === 'number' ? found.value : literal}`;
	return [
		`Retry keeps the items as they came, so correct the value in this node: replace ${found.expression} by {{ ${condition} ? '...' : ${operand} }}, with the right value in place of the dots. Take this back afterwards.`,
		"If there is no right value, set 'On Error' to 'Continue (using error output)' to go past this item.",
	].join('\n');
}

/**
 * Returns whether a text names a value, and not only a longer one that contains it. One character says too little.
 *
 * @param isQuoted whether a text counts only if it is in quotes, unlike a number
 */
function isNamedIn(text: string, value: unknown, isQuoted = false): boolean {
	const literal = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	if (literal.length < 2 || literal.length > MAX.said) return false;
	const quoted = isQuoted && typeof value === 'string';
	const [before, after] = quoted ? ['["\'(]', '["\')]'] : ['(?<![\\w-])', '(?![\\w-])'];
	return new RegExp(before + literal.replace(/\W/g, '\\$&') + after).test(text);
}

/** Returns all strings in a stored parameter. */
export function stringsIn(stored: unknown): string[] {
	if (typeof stored === 'string') return [stored];
	return Object.values(Object(stored) as object).flatMap(stringsIn);
}
