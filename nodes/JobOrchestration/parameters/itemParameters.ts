import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { Given } from './given';

/**
 * The parameters of the node, item by item.
 *
 * What holds no expression is the same for each item: it is read once, not once an item through n8n's
 * expression engine.
 */
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

	/** What an item gives for a field; the names of collections' fields come from their description. */
	of(itemIndex: number): (name: string, member?: string) => Given {
		return (name, member) => {
			const field = this.fields.get(name);
			const whole = new Given(field?.displayName ?? name, this.value(name, itemIndex));
			if (member === undefined) return whole;
			const option = field?.options?.find((candidate) => candidate.name === member);
			return whole.member(member, option && 'displayName' in option ? option.displayName : member);
		};
	}

	private value(name: string, itemIndex: number): unknown {
		if (this.fixed.has(name)) return this.fixed.get(name);
		const stored = this.raw[name];
		const value: unknown = this.context.getNodeParameter(name, itemIndex, null, {
			extractValue: isResourceLocator(stored),
		});
		if (!holdsExpression(stored)) this.fixed.set(name, value);
		return value;
	}
}

/** Whether there is an expression anywhere in a parameter as the workflow stores it. */
function holdsExpression(stored: unknown): boolean {
	if (typeof stored === 'string') return stored.startsWith('=');
	if (typeof stored !== 'object' || stored === null) return false;
	return Object.values(stored).some(holdsExpression);
}

/** Whether a stored parameter is a choice from a list or by ID, of which only the value counts. */
function isResourceLocator(stored: unknown): boolean {
	return typeof stored === 'object' && stored !== null && '__rl' in stored;
}
