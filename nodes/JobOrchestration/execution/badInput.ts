import type { INode } from 'n8n-workflow';

import { newOperationError } from './errors';
import type { FailedItem } from './itemOutcome';
import { itemList } from './itemOutcome';

/** A longer list of what is wrong in other items would not be read: the rest is counted. */
const MAX_LISTED = 10;

/**
 * One error for all items with wrong fields, grouped by what is wrong and what to do; undefined if there are none.
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
	const byText = new Map<string, FailedItem[]>();
	for (const item of failed) {
		const text = `${item.error.message}\n${item.error.description}`;
		const same = byText.get(text) ?? [];
		same.push(item);
		byText.set(text, same);
	}
	const [title, ...others] = [...byText.values()].map((items) => {
		const [{ error } = first] = items;
		const comma = error.message.includes(', ') ? ',' : '';
		const which = items.length === count ? `all ${count} items` : itemList(items);
		const problem = count === 1 ? `${error.message}.` : `${error.message}${comma} for ${which}.`;
		return items.includes(first) ? problem : `${problem} ${error.description}`;
	});
	const lines = [first.error.description, ...others.slice(0, MAX_LISTED)];
	if (others.length > MAX_LISTED) lines.push(`And ${others.length - MAX_LISTED} more.`);
	const notSent = isRetry ? 'Nothing more was sent.' : 'Nothing was sent.';
	const error = newOperationError(node, `${notSent} ${title}`, lines.join('\n'));
	return { itemIndex: first.itemIndex, error, namesItems: true };
}
