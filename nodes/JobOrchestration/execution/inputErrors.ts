import type { Problem } from '../service/errors/problem';
import { descriptionOf, FROM_ZERO, itemList, titleOf } from '../texts';
import type { FatalProblem } from './run';

/*
 * The problems that end the execution before the run sends anything.
 */

/**
 * The maximum number of problems in other items that are listed. A longer list would not be read: the rest is counted.
 */
const MAX_PROBLEMS = 10;

/**
 * Returns one problem for all items with wrong fields. The items are grouped by what is wrong and what to do about it.
 *
 * @param count the number of all items of the node
 */
export function badInputProblem(
	failed: FatalProblem[],
	{ count, isRetry }: { count: number; isRetry: boolean },
): FatalProblem | undefined {
	const [first] = failed;
	if (first === undefined) return undefined;
	const byText = new Map<string, FatalProblem[]>();
	for (const item of failed) {
		const text = `${titleOf(item.problem)}\n${descriptionOf(item.problem)}`;
		const same = byText.get(text) ?? [];
		same.push(item);
		byText.set(text, same);
	}
	const groups = [...byText.values()];
	const [title, ...others] = groups.map((items) => {
		const [{ problem } = first] = items;
		const title = titleOf(problem);
		const comma = title.includes(', ') ? ',' : '';
		const isTitle = items.includes(first);
		const list = itemList(items.map(({ itemIndex }) => itemIndex));
		const numbers = isTitle ? `${list} ${FROM_ZERO}` : list;
		const which = items.length === count ? `all ${count} items` : numbers;
		const sentence = count === 1 ? `${title}.` : `${title}${comma} for ${which}.`;
		return isTitle ? sentence : `${sentence} ${descriptionOf(problem)}`;
	});
	const lines = others.slice(0, MAX_PROBLEMS);
	if (others.length > MAX_PROBLEMS) lines.push(`And ${others.length - MAX_PROBLEMS} more.`);
	const notSent = isRetry ? 'Nothing more was sent.' : 'Nothing was sent.';
	const scope = groups[0]?.length === count ? 'all items' : 'named items';
	const problem: Problem = {
		message: `${notSent} ${title}`,
		advice: descriptionOf(first.problem),
		...(lines.length > 0 && { reason: lines.join('\n') }),
		...{ isWrongValue: true, scope },
	};
	return { itemIndex: first.itemIndex, problem };
}
