import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import type { Operation, PreparedCall } from '../resources/operation';
import type { ItemOptions } from '../resources/options';
import { readOptions } from '../resources/options';
import { Clients } from '../service/clients';
import type { HttpClient } from '../service/http';
import { wait } from '../service/timers';
import { newCallback } from './callback';
import { failItem, newOperationError } from './errors';
import { inParallel } from './inParallel';
import type { FailedItem, ItemOutcomes } from './itemOutcome';
import { FROM_ZERO, itemList } from './itemOutcome';

/** Reading parameters for longer would delay n8n's other work: its event loop would not turn. */
const YIELD_AFTER_MS = 10;

/** Credentials that are read at once. One after the other, n8n's database would take twice as long. */
const READS_AT_ONCE = 20;

export interface PreparedItem {
	itemIndex: number;
	call: PreparedCall;
	options: ItemOptions;
	client: HttpClient;
}

export interface PreparedRun {
	calls: PreparedItem[];
	clients: Clients;
	/** Those of the first item whose options can be read. */
	options: ItemOptions | undefined;
	/** The most requests of this execution at once: the lowest number given. Undefined if the service's own pace decides. */
	concurrency: number | undefined;
	/** The error that ends the execution before anything is sent. */
	failedItem: FailedItem | undefined;
}

/**
 * Reads and checks the parameters and the credential of all items. What is wrong is the outcome of its item and, unless
 * the node continues after errors, ends the execution.
 */
export async function prepareAll(
	context: IExecuteFunctions,
	operation: Operation,
	outcomes: ItemOutcomes,
): Promise<PreparedRun> {
	const node = context.getNode();
	const signal = context.getExecutionCancelSignal();
	const parameters = new ItemParameters(context, operation.fields);
	const given = context.getInputData().map((): HttpClient | undefined => undefined);
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	const yieldTurn = turns();
	const pending: Array<Omit<PreparedItem, 'client'>> = [];
	const badInput: FailedItem[] = [];
	const unread: FailedItem[] = [];
	const fail = (itemIndex: number, error: unknown) =>
		failItem(node, outcomes, { itemIndex, error });
	let options: ItemOptions | undefined;
	let concurrency: number | undefined;

	for (const itemIndex of given.keys()) {
		await yieldTurn();
		if (isCancelled(context)) break;
		const outcome = outcomes[itemIndex];
		try {
			const getField = parameters.forItem(itemIndex);
			const ofItem = readOptions(getField);
			options ??= ofItem;
			if (ofItem.concurrency !== undefined) {
				concurrency = Math.min(concurrency ?? Infinity, ofItem.concurrency);
			}
			const isOld = outcome && 'error' in outcome && outcome.error.isOfEarlierExecution;
			if (outcome && !(isOld && ofItem.createUncertainAgain)) continue;
			const call = operation.prepare(getField, (limitMs) => newCallback(context, limitMs));
			pending.push({ itemIndex, call, options: ofItem });
		} catch (error) {
			badInput.push(fail(itemIndex, error));
		}
	}

	const clients = new Clients(context, { concurrency }, signal);
	const readCredential = async (itemIndex: number) => {
		await yieldTurn();
		try {
			given[itemIndex] = await clients.forItem(itemIndex);
		} catch (error) {
			if (!isCancelled(context)) unread.push(fail(itemIndex, error));
		}
	};
	await inParallel([...given.keys()], READS_AT_ONCE, readCredential, signal);

	const otherAccount = otherAccountError(node, outcomes, { given, clients });
	let failedItem: FailedItem | undefined;
	if (!context.continueOnFail()) {
		const count = outcomes.length;
		failedItem = badInputError(node, badInput, { count, isRetry }) ?? unread[0] ?? otherAccount;
	} else if (otherAccount !== undefined) {
		for (const { itemIndex } of pending) fail(itemIndex, otherAccount.error);
	}
	const calls = pending.flatMap((item) => {
		const client = given[item.itemIndex];
		return client === undefined || otherAccount !== undefined ? [] : [{ ...item, client }];
	});
	return { calls, clients, options, concurrency, failedItem };
}

/** Lets n8n's other work go on, if it is time. */
function turns(): () => Promise<void> {
	let lastYield = Date.now();
	return async () => {
		if (Date.now() - lastYield <= YIELD_AFTER_MS) return;
		await wait(0);
		lastYield = Date.now();
	};
}

/** A longer list of what is wrong in other items would not be read: the rest is counted. */
const MAX_PROBLEMS = 10;

/**
 * One error for all items with wrong fields, grouped by what is wrong and what to do; undefined if there are none.
 *
 * @param count how many items the node has
 * @param isRetry whether an earlier run has sent some of them
 */
function badInputError(
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
		const isTitle = items.includes(first);
		const numbers = isTitle ? `${itemList(items)} ${FROM_ZERO}` : itemList(items);
		const which = items.length === count ? `all ${count} items` : numbers;
		const problem = count === 1 ? `${error.message}.` : `${error.message}${comma} for ${which}.`;
		return isTitle ? problem : `${problem} ${error.description}`;
	});
	const lines = [first.error.description, ...others.slice(0, MAX_PROBLEMS)];
	if (others.length > MAX_PROBLEMS) lines.push(`And ${others.length - MAX_PROBLEMS} more.`);
	const notSent = isRetry ? 'Nothing more was sent.' : 'Nothing was sent.';
	const error = newOperationError(node, `${notSent} ${title}`, lines.join('\n'));
	return { itemIndex: first.itemIndex, error, namesItems: true };
}

const USE_SAME_ACCOUNT =
	'Give this node the credential of that account again, and use Retry. For the new account, start a new execution with the items that are still to be done.';

/**
 * The error of a run that would go on with what an earlier run did with another account; undefined if none did.
 *
 * @param given the clients of the items that this run is given, by their position
 */
function otherAccountError(
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
	const what = `${itemList(others)} ${FROM_ZERO} ${others.length === 1 ? 'was' : 'were'} done with another account`;
	const done = [...new Set(others.map(({ account }) => account))].map((account) => {
		return `Done as ${account}: ${itemList(others.filter((other) => other.account === account))}.`;
	});
	const description = [USE_SAME_ACCOUNT, ...done, `The credential now: ${first.now}.`].join('\n');
	const error = newOperationError(node, `Nothing more was sent: ${what}`, description);
	return { itemIndex: first.itemIndex, error, namesItems: true };
}

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}
