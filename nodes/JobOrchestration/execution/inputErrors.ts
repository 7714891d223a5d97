import { itemList } from '../texts';
import type { FatalProblem } from './run';

/*
 * The problems that end the execution before the run sends anything.
 */

/**
 * Returns one problem for all items with wrong fields: that of the first one, and which others have a problem, too.
 *
 * @param count the number of all items of the node
 */
export function badInputProblem(
	[first, ...others]: FatalProblem[],
	{ count, isRetry }: { count: number; isRetry: boolean },
): FatalProblem | undefined {
	if (first === undefined) return undefined;
	const { itemIndex, problem } = first;
	const what = isRetry ? 'Nothing more was sent' : 'Nothing was sent';
	const which = count > 1 ? ` for item ${itemIndex}` : '';
	const items = itemList(others.map((other) => other.itemIndex));
	const more = others.length === 1 ? 'One more item has' : `${others.length} more items have`;
	return {
		itemIndex,
		problem: {
			...problem,
			title: `${what}. ${problem.title}${which}.`,
			lists: others.length > 0 ? [`${more} wrong values: ${items}.`] : [],
			scope: 'named items',
		},
	};
}
