import { expressionsIn, type Item, operandOf, textsIn } from '../fields/expressions';

/**
 * Returns how to correct one item's value in the node itself, because n8n's Retry keeps the items as they came.
 *
 * @param said the texts of the error, which name the wrong value; the first that names the value of an expression counts
 * @returns undefined if no text names the value of an expression
 */
export function correctionOf({ context, itemIndex }: Item, said: string[]): string | undefined {
	const evaluated = (expression: string): unknown => {
		try {
			return context.evaluateExpression(expression, itemIndex);
		} catch {
			return undefined;
		}
	};
	const expressions = textsIn(context.getNode().parameters)
		.flatMap(expressionsIn)
		.map((expression) => ({ expression, value: evaluated(expression) }));
	const [found] = said.flatMap((text) => expressions.filter(({ value }) => isNamedIn(text, value)));
	if (found === undefined) return undefined;
	const operand = operandOf(found.expression);
	const literal = `'${String(found.value).replace(/['\\]/g, '\\$&')}'`;
	const condition = `${operand} === ${typeof found.value === 'number' ? found.value : literal}`;
	return `Retry keeps the items as they came, so correct the value in this node: replace ${found.expression} by {{ ${condition} ? '...' : ${operand} }}, with the right value in place of the dots. Take this back afterwards.`;
}

/** Returns whether a text names a value, and not only a longer one that contains it. One character says too little. */
function isNamedIn(text: string, value: unknown): boolean {
	if (!['string', 'number'].includes(typeof value) || String(value).length < 2) return false;
	const parts = text.split(String(value));
	return parts
		.slice(1)
		.some((after, index) => !/^[\w-]/.test(after) && !/[\w-]$/.test(parts[index] ?? ''));
}
