import type { IExecuteFunctions, INodeParameters, INodeProperties } from 'n8n-workflow';

import { isJsonObject } from '../json';
import { FieldError } from './fieldError';
import { FieldValue } from './fieldValue';

/**
 * A function that reads a field of the current item, or a field in one of its collections. It throws a FieldError if
 * the field's expression fails.
 */
export type GetField = (field: string, member?: string) => FieldValue;

/** The parameters of all items. n8n's expressions are slow, so a parameter without an expression is read only once. */
export class ItemParameters {
	private readonly fixed = new Map<string, unknown>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly fields: readonly INodeProperties[],
		private readonly stored: INodeParameters = context.getNode().parameters,
	) {}

	/**
	 * Returns a function that reads the fields of one item. Each value has the editor's label of its field, for errors.
	 *
	 * @param onUndefined called with the label of each field whose expression evaluates to undefined; such a field
	 * counts as left empty where that is allowed
	 */
	forItem(itemIndex: number, onUndefined: (label: string) => void): GetField {
		return (name, member) => {
			const field = this.fields.find((candidate) => candidate.name === name);
			const whole = this.read(name, itemIndex, field);
			const value = member === undefined ? whole : whole.member(member, labelOf(field, member));
			if (value.isUndefined) onUndefined(value.field);
			return value;
		};
	}

	private read(name: string, itemIndex: number, field?: INodeProperties): FieldValue {
		const label = field?.displayName ?? name;
		if (this.fixed.has(name)) return new FieldValue(label, this.fixed.get(name));
		let value: unknown;
		try {
			value = this.context.getNodeParameter(name, itemIndex, null);
		} catch (error) {
			throw unreadable(label, error);
		}
		if (field?.type === 'resourceLocator') value = locatedBy(value);
		const stored = this.stored[name];
		if (!holdsExpression(stored)) this.fixed.set(name, value);
		const isText = typeof value === 'string' && typeof stored === 'string';
		return new FieldValue(label, value, () => isText && this.hasGap(stored, itemIndex));
	}

	private hasGap(stored: string, itemIndex: number): boolean {
		const expressions = stored.startsWith('=') ? (stored.match(/\{\{.*?\}\}/gs) ?? []) : [];
		return expressions.some(
			(expression) => this.context.evaluateExpression(expression, itemIndex) === undefined,
		);
	}
}

function labelOf(field: INodeProperties | undefined, member: string): string {
	const option = field?.options?.find((candidate) => candidate.name === member);
	return option && 'displayName' in option ? option.displayName : member;
}

function unreadable(field: string, error: unknown): FieldError {
	const reason = error instanceof Error ? error.message : String(error);
	const advice = `n8n says: "${reason}". Correct the expression in this field.`;
	return new FieldError(field, 'has an invalid expression', advice);
}

/**
 * Returns the value in a resource locator. This value may itself be a resource locator, that of another node. n8n's
 * `extractValue` is not used, because it does nothing without a mode.
 */
function locatedBy(value: unknown): unknown {
	return isJsonObject(value) && 'value' in value ? locatedBy(value.value) : value;
}

/** Returns whether a parameter, as the workflow stores it, contains an expression anywhere. */
function holdsExpression(stored: unknown): boolean {
	if (typeof stored === 'string') return stored.startsWith('=');
	if (typeof stored !== 'object' || stored === null) return false;
	return Object.values(stored).some(holdsExpression);
}
