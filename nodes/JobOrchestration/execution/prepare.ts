import { ItemParameters } from '../parameters/itemParameters';
import { readOptions } from '../resources/options';
import { Clients } from '../service/clients';
import { type PlainError, plainErrorOf } from '../service/errors/nodeError';
import type { ServiceClient } from '../service/client';
import { MAX_LIMIT } from '../service/pace/limits';
import { wait } from '../service/timers';
import { newCallback } from './callback';
import { inParallel } from './inParallel';
import type { FailedItem, PreparedItem, Run } from './run';
import { FROM_ZERO, isCancelled, itemList } from './run';

/** Reading parameters for longer would delay n8n's other work: its event loop would not turn. */
const YIELD_AFTER_MS = 10;

/** Credentials that are read at once. One after the other, n8n's database would take twice as long. */
const READS_AT_ONCE = 20;

/** Reads and checks all items, for the run's calls. @returns the error that ends the execution before the first call */
export async function prepareAll(run: Run): Promise<FailedItem | undefined> {
	const { context, operation, outcomes } = run;
	const signal = context.getExecutionCancelSignal();
	const parameters = new ItemParameters(context, operation.fields);
	const given = context.getInputData().map((): ServiceClient | undefined => undefined);
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	const yieldTurn = turns();
	const pending: Array<Omit<PreparedItem, 'client'>> = [];
	const badInput: FailedItem[] = [];
	/** The lowest number given. */
	let concurrency: number | undefined;
	const unread: FailedItem[] = [];
	const failItem = (itemIndex: number, cause: unknown): FailedItem => {
		const error = plainErrorOf(cause);
		outcomes[itemIndex] ??= { error };
		return { itemIndex, error, cause };
	};

	for (const itemIndex of given.keys()) {
		await yieldTurn();
		if (isCancelled(context)) break;
		const outcome = outcomes[itemIndex];
		try {
			const getField = parameters.forItem(itemIndex);
			const options = readOptions(getField);
			run.options ??= options;
			if (options.concurrency !== undefined) {
				concurrency = Math.min(concurrency ?? MAX_LIMIT, options.concurrency);
			}
			const isAgain = outcome?.isOfEarlierExecution === true && options.createUncertainAgain;
			if (outcome && !isAgain) continue;
			const call = operation.prepare(getField, (limitMs) => newCallback(context, limitMs));
			pending.push({ itemIndex, call, options });
		} catch (error) {
			badInput.push(failItem(itemIndex, error));
		}
	}

	run.clients = new Clients(context, { concurrency }, signal);
	const readCredential = async (itemIndex: number) => {
		await yieldTurn();
		try {
			given[itemIndex] = await run.clients.forItem(itemIndex);
		} catch (error) {
			if (!isCancelled(context)) unread.push(failItem(itemIndex, error));
		}
	};
	await inParallel([...given.keys()], READS_AT_ONCE, readCredential, signal);
	if (run.clients.count > 1 && concurrency !== undefined) run.itemsAtOnce = concurrency;

	const otherAccount = otherAccountError(run, given);
	for (const item of pending) {
		const client = given[item.itemIndex];
		if (otherAccount) outcomes[item.itemIndex] ??= { error: otherAccount.error };
		else if (client) run.calls.push({ ...item, client });
	}
	if (context.continueOnFail()) return undefined;
	return badInputError(badInput, { count: outcomes.length, isRetry }) ?? unread[0] ?? otherAccount;
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

/** One error for all items with wrong fields, grouped by what is wrong and what to do. @param count of the node's items */
function badInputError(
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
		const list = itemList(items.map(({ itemIndex }) => itemIndex));
		const numbers = isTitle ? `${list} ${FROM_ZERO}` : list;
		const which = items.length === count ? `all ${count} items` : numbers;
		const problem = count === 1 ? `${error.message}.` : `${error.message}${comma} for ${which}.`;
		return isTitle ? problem : `${problem} ${error.description}`;
	});
	const lines = [first.error.description, ...others.slice(0, MAX_PROBLEMS)];
	if (others.length > MAX_PROBLEMS) lines.push(`And ${others.length - MAX_PROBLEMS} more.`);
	const notSent = isRetry ? 'Nothing more was sent.' : 'Nothing was sent.';
	const texts = { message: `${notSent} ${title}`, description: lines.join('\n') };
	const error: PlainError = { ...texts, isWrongValue: true, scope: 'named items' };
	return { itemIndex: first.itemIndex, error };
}

const USE_SAME_ACCOUNT =
	'Give this node the credential of that account again before you use Retry. For the new account, start a new execution with the items that are still to be done.';

/** The error of a run that would go on with what another account did. @param given the items' clients, by position */
function otherAccountError(
	{ outcomes, clients }: Run,
	given: Array<ServiceClient | undefined>,
): FailedItem | undefined {
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
	const description = [USE_SAME_ACCOUNT, ...done, `The credential now: ${first.now}.`].join('\n');
	const error: PlainError = { message, description, scope: 'named items' };
	return { itemIndex: first.itemIndex, error };
}
