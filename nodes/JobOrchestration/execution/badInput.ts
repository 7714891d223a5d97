import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { FailedItem } from './itemOutcome';
import { itemList } from './itemOutcome';

/** Errors of a different kind than these many are counted, not listed. */
const MAX_LISTED = 10;

/**
 * One error for all items with wrong fields, by what is wrong: a user who corrects them one by one would run the
 * node once for each.
 *
 * @param failed at least one, in the order of the items
 * @param notDone what has not been done therefore, as a sentence
 * @param isOnly whether the node has no other item: then it needs no number
 */
export function badInputError(
	node: INode,
	[first, ...others]: [FailedItem, ...FailedItem[]],
	{ notDone, isOnly }: { notDone: string; isOnly: boolean },
): FailedItem {
	const byMessage = new Map<string, [FailedItem, ...FailedItem[]]>([
		[first.error.message, [first]],
	]);
	for (const item of others) {
		const { message } = item.error;
		const same = byMessage.get(message);
		if (same === undefined) byMessage.set(message, [item]);
		else same.push(item);
	}
	const [title, ...rest] = [...byMessage].map(([problem, items]) => {
		const comma = problem.includes(', ') ? ',' : '';
		return isOnly ? `${problem}.` : `${problem}${comma} for ${itemList(items)}.`;
	});
	const message = `${notDone} ${title}`;
	const lines = [first.error.description ?? '', ...rest.slice(0, MAX_LISTED)];
	if (rest.length > MAX_LISTED) lines.push(`And ${rest.length - MAX_LISTED} more errors.`);
	const error = new NodeOperationError(node, message, { description: lines.join('\n') });
	// n8n replaces a message in which it finds a system error's code.
	error.message = message;
	return { itemIndex: first.itemIndex, error, namesItems: true };
}
