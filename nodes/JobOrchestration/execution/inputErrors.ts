import type { ServiceClient } from '../service/client';
import type { Problem } from '../service/errors/problem';
import { descriptionOf, FROM_ZERO, itemList, titleOf } from '../texts';
import type { Clients } from '../service/clients';
import type { RunState } from './outcomes';
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

const USE_SAME_ACCOUNT =
	'Give this node the credential of that account again before you use Retry. For the new account, start a new execution with the items that are still to be done.';

/**
 * Returns the problem of a run that would continue what was done with another account.
 *
 * @param given the clients of the items, by the item's position
 */
export function otherAccountProblem(
	outcomes: RunState['outcomes'],
	clients: Clients,
	given: Array<ServiceClient | undefined>,
): FatalProblem | undefined {
	const others = outcomes.flatMap((outcome, itemIndex) => {
		const account = outcome?.account;
		const isGiven = itemIndex < given.length;
		const client = isGiven ? given[itemIndex] : (clients.of(account) ?? given[0]);
		const now = client?.account;
		const isSame = account === undefined || now === undefined || account === now;
		return isSame ? [] : [{ itemIndex, account, now }];
	});
	const [first] = others;
	if (first === undefined) return undefined;
	const listOf = (items: typeof others) => itemList(items.map(({ itemIndex }) => itemIndex));
	const were = others.length === 1 ? 'was' : 'were';
	const message = `Nothing more was sent: ${listOf(others)} ${FROM_ZERO} ${were} done with another account`;
	const done = [...new Set(others.map(({ account }) => account))].map((account) => {
		return `Done as ${account}: ${listOf(others.filter((other) => other.account === account))}.`;
	});
	const detail = [...done, `The credential now: ${first.now}.`].join('\n');
	const problem: Problem = { message, advice: USE_SAME_ACCOUNT, detail, scope: 'named items' };
	return { itemIndex: first.itemIndex, problem };
}
