import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { isJsonObject } from '../json';
import { FieldError, FieldValue } from './fieldValue';

/** Reads a field of the current item, or a field in one of its collections. Throws FieldError if its expression fails. */
export type GetField = (field: string, member?: string) => FieldValue;

/** The parameters of all items. n8n's expressions are slow, so a parameter without one is read once. */
export class ItemParameters {
	private readonly fixed = new Map<string, unknown>();
	private readonly raw: Record<string, unknown>;
	private readonly fields = new Map<string, INodeProperties>();

	constructor(
		private readonly context: IExecuteFunctions,
		fields: readonly INodeProperties[],
	) {
		this.raw = context.getNode().parameters;
		for (const field of fields) this.fields.set(field.name, field);
	}

	/** Reads the fields of one item, each with the editor's label, for errors. */
	forItem(itemIndex: number): GetField {
		return (name, member) => {
			const field = this.fields.get(name);
			const whole = new FieldValue(field?.displayName ?? name, this.value(name, itemIndex));
			if (member === undefined) return whole;
			const option = field?.options?.find((candidate) => candidate.name === member);
			return whole.member(member, option && 'displayName' in option ? option.displayName : member);
		};
	}

	private value(name: string, itemIndex: number): unknown {
		if (this.fixed.has(name)) return this.fixed.get(name);
		const value = this.evaluate(name, itemIndex);
		if (!holdsExpression(this.raw[name])) this.fixed.set(name, value);
		return value;
	}

	private evaluate(name: string, itemIndex: number): unknown {
		const field = this.fields.get(name);
		// Of n8n's resource locator, a choice from a list or an ID, only the value counts.
		const options = { extractValue: field?.type === 'resourceLocator' };
		try {
			return this.context.getNodeParameter(name, itemIndex, null, options);
		} catch (error) {
			throw unreadable(field?.displayName ?? name, error);
		}
	}
}

function unreadable(field: string, error: unknown): FieldError {
	const { message, description } = isJsonObject(error) ? error : { message: String(error) };
	const texts = [message, description].filter((text) => typeof text === 'string' && text !== '');
	const reason = [...new Set(texts)].join('. ').replace(/\.$/, '');
	return new FieldError(
		field,
		'has an invalid expression',
		`n8n says: "${reason}". Correct the expression in this field.`,
	);
}

/** Whether there is an expression anywhere in a parameter as the workflow stores it. */
function holdsExpression(stored: unknown): boolean {
	if (typeof stored === 'string') return stored.startsWith('=');
	if (typeof stored !== 'object' || stored === null) return false;
	return Object.values(stored).some(holdsExpression);
}
