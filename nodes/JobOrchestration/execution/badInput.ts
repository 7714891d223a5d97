import type { INode } from 'n8n-workflow';

import { newOperationError } from './errors';
import type { FailedItem } from './itemOutcome';
import { itemList } from './itemOutcome';

/** A longer list of what is wrong in other items would not be read: the rest is counted. */
const MAX_LISTED = 10;

/**
 * One error for all items with wrong fields, grouped by what is wrong; undefined if there are none.
 *
 * @param count how many items the node has
 * @param isRetry whether an earlier run has sent some of them
 */
export function badInputError(
	node: INode,
	failed: FailedItem[],
	{ count, isRetry }: { count: number; isRetry: boolean },
): FailedItem | undefined {
	const [first] = failed;
	if (first === undefined) return undefined;
	const byMessage = new Map<string, FailedItem[]>();
	for (const item of failed) {
		const same = byMessage.get(item.error.message) ?? [];
		same.push(item);
		byMessage.set(item.error.message, same);
	}
	const [title, ...others] = [...byMessage].map(([problem, items]) => {
		const comma = problem.includes(', ') ? ',' : '';
		if (count === 1) return `${problem}.`;
		const which = items.length === count ? `all ${count} items` : itemList(items);
		return `${problem}${comma} for ${which}.`;
	});
	const lines = [first.error.description, ...others.slice(0, MAX_LISTED)];
	if (others.length > MAX_LISTED) lines.push(`And ${others.length - MAX_LISTED} more.`);
	const notSent = isRetry ? 'Nothing more was sent.' : 'Nothing was sent.';
	const error = newOperationError(node, `${notSent} ${title}`, lines.join('\n'));
	return { itemIndex: first.itemIndex, error, namesItems: true };
}
