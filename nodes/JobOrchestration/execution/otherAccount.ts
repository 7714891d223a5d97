import type { INode } from 'n8n-workflow';

import type { Clients } from '../service/clients';
import type { HttpClient } from '../service/http';
import { newOperationError } from './errors';
import type { FailedItem, ItemOutcomes } from './itemOutcome';
import { itemList } from './itemOutcome';

const ADVICE =
	'Give this node the credential of that account again, and use Retry. For the new account, start a new execution with the items that are still to be done.';

/**
 * The error of a run that would go on with what an earlier run did with another account; undefined if none did.
 *
 * @param given the clients of the items that this run is given, by their position
 */
export function otherAccountError(
	node: INode,
	outcomes: ItemOutcomes,
	{ given, clients }: { given: Array<HttpClient | undefined>; clients: Clients },
): FailedItem | undefined {
	const clientOf = (itemIndex: number) =>
		itemIndex < given.length
			? given[itemIndex]
			: (clients.of(outcomes[itemIndex]?.account) ?? given[0]);
	const others = outcomes.flatMap((outcome, itemIndex) => {
		const now = clientOf(itemIndex)?.account;
		const account = outcome?.account;
		const isSame = account === undefined || now === undefined || account === now;
		return isSame ? [] : [{ itemIndex, account, now }];
	});
	const [first] = others;
	if (first === undefined) return undefined;
	const what = `${itemList(others)} ${others.length === 1 ? 'was' : 'were'} done with another account`;
	const done = [...new Set(others.map(({ account }) => account))].map((account) => {
		return `Done as ${account}: ${itemList(others.filter((other) => other.account === account))}.`;
	});
	const description = [ADVICE, ...done, `The credential now: ${first.now}.`].join('\n');
	const error = newOperationError(node, `Nothing more was sent: ${what}`, description);
	return { itemIndex: first.itemIndex, error, namesItems: true };
}
