import { ItemParameters } from '../parameters/itemParameters';
import { readOptions } from '../resources/options';
import { Clients } from '../service/clients';
import { cutOffProblem, problemOf } from '../service/errors/problem';
import type { ServiceClient } from '../service/client';
import { MAX_LIMIT } from '../service/pace/limits';
import { RETRY } from '../service/retry/policy';
import { wait } from '../service/timers';
import { newCallback } from './callback';
import { inParallel } from './inParallel';
import { badInputError, otherAccountError } from './inputErrors';
import { msSinceFirstTry } from './retryMemory';
import {
	type FailedItem,
	isCancelled,
	isRepeatable,
	isTool,
	type PreparedItem,
	type Run,
} from './run';

/** Reading parameters for longer would delay n8n's other work: its event loop would not turn. */
const YIELD_AFTER_MS = 10;

/** Credentials that are read at once. One after the other, n8n's database would take twice as long. */
const READS_AT_ONCE = 20;

/** Reads and checks all items, for the run's calls. @returns the error that ends the execution before the first call */
export async function prepareAll(run: Run): Promise<FailedItem | undefined> {
	const { context, operation, outcomes } = run;
	const isUncertain = run.wasCutOff && !isRepeatable(operation);
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
		const error = problemOf(cause);
		outcomes[itemIndex] ??= { error };
		return { itemIndex, error, cause };
	};

	for (const itemIndex of given.keys()) {
		await yieldTurn();
		if (isCancelled(context)) break;
		const outcome = outcomes[itemIndex];
		try {
			const undefinedFields = new Set<string>();
			const getField = parameters.forItem(itemIndex, (field) => undefinedFields.add(field));
			const options = readOptions(getField);
			run.options ??= options;
			if (options.concurrency !== undefined) {
				concurrency = Math.min(concurrency ?? MAX_LIMIT, options.concurrency);
			}
			const isAgain = outcome?.isOfEarlierExecution === true && options.createUncertainAgain;
			if (outcome && !isAgain) continue;
			const call = operation.prepare(getField, (limitMs) => newCallback(context, limitMs));
			if (isUncertain && !options.createUncertainAgain) {
				outcomes[itemIndex] = { error: cutOffProblem(call.job), isOfEarlierExecution: true };
			} else pending.push({ itemIndex, call, options });
			for (const field of undefinedFields) {
				const items = run.leftOut.get(field) ?? [];
				run.leftOut.set(field, items);
				items.push(itemIndex);
			}
		} catch (error) {
			badInput.push(failItem(itemIndex, error));
		}
	}

	const limitMs = isTool(context) ? RETRY.toolLimitMs - msSinceFirstTry(context) : undefined;
	run.clients = new Clients(context, { concurrency, limitMs }, signal);
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
