import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { FailedItem } from './itemOutcome';
import { itemList } from './itemOutcome';

/** A longer list of what is wrong in other items would not be read: the rest is counted. */
const MAX_LISTED = 10;

/**
 * One error for all items with wrong fields, grouped by what is wrong.
 *
 * @param notDone what was not done because of it, as a sentence
 * @param count how many items the node has
 */
export function badInputError(
	node: INode,
	[first, ...others]: [FailedItem, ...FailedItem[]],
	{ notDone, count }: { notDone: string; count: number },
): FailedItem {
	const byMessage = new Map<string, FailedItem[]>();
	for (const item of [first, ...others]) {
		const same = byMessage.get(item.error.message) ?? [];
		same.push(item);
		byMessage.set(item.error.message, same);
	}
	const [title, ...rest] = [...byMessage].map(([problem, items]) => {
		const comma = problem.includes(', ') ? ',' : '';
		if (count === 1) return `${problem}.`;
		const which = items.length === count ? `all ${count} items` : itemList(items);
		return `${problem}${comma} for ${which}.`;
	});
	const message = `${notDone} ${title}`;
	const lines = [first.error.description ?? '', ...rest.slice(0, MAX_LISTED)];
	if (rest.length > MAX_LISTED) lines.push(`And ${rest.length - MAX_LISTED} more.`);
	const error = new NodeOperationError(node, message, { description: lines.join('\n') });
	// n8n replaces a message in which it finds a system error's code.
	error.message = message;
	return { itemIndex: first.itemIndex, error, namesItems: true };
}
