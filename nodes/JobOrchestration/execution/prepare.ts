import { ItemParameters } from '../parameters/itemParameters';
import { readOptions } from '../resources/options';
import type { ServiceClient } from '../service/client';
import { Clients } from '../service/clients';
import { cutOffProblem, problemOf } from '../service/errors/problem';
import { MAX_LIMIT } from '../service/pace/limits';
import { RETRY } from '../service/retry/policy';
import { wait } from '../service/timers';
import { newCallback } from '../waitUntilCalled/callback';
import { inParallel } from './inParallel';
import { badInputProblem, otherAccountProblem } from './inputErrors';
import { msSinceFirstTry } from './retryMemory';
import {
	type FatalProblem,
	isCancelled,
	isRepeatable,
	isTool,
	type PreparedItem,
	type PreparedRun,
	type Run,
} from './run';

/**
 * The time after which reading parameters pauses. A longer time would block the event loop and delay n8n's other work.
 */
const YIELD_AFTER_MS = 10;

/** The number of credentials that are read at once. Reading them one by one from n8n's database takes twice as long. */
const READS_AT_ONCE = 20;

/** Reads and checks all items. Items that can't be run get their outcome here. */
export async function prepareAll(run: Run): Promise<PreparedRun> {
	const { context, outcomes } = run;
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	const { items, badInput, concurrency, leftOut } = await readItems(run);
	const { clients, given, unread } = await readCredentials(run, concurrency);
	const otherAccount = otherAccountProblem(outcomes, clients, given);
	const calls: PreparedItem[] = [];
	for (const item of items) {
		const client = given[item.itemIndex];
		if (otherAccount) outcomes[item.itemIndex] ??= { problem: otherAccount.problem };
		else if (client) calls.push({ ...item, client });
	}
	const bad = badInputProblem(badInput, { count: outcomes.length, isRetry });
	const fatal = context.continueOnFail() ? undefined : (bad ?? unread[0] ?? otherAccount);
	const itemsAtOnce = clients.count > 1 ? concurrency : undefined;
	return { calls, itemsAtOnce, leftOut, fatal };
}

/** Reads and checks the options of all items, and all parameters of the items that are to be run. */
async function readItems(run: Run) {
	const { context, operation, outcomes } = run;
	const parameters = new ItemParameters(context, operation.fields);
	const yieldTurn = turns();
	const items: Array<Omit<PreparedItem, 'client'>> = [];
	const badInput: FatalProblem[] = [];
	const leftOut: PreparedRun['leftOut'] = new Map();
	/** The lowest Concurrency that an item sets. */
	let concurrency: number | undefined;
	for (const itemIndex of context.getInputData().keys()) {
		await yieldTurn();
		if (isCancelled(context)) break;
		const outcome = outcomes[itemIndex];
		try {
			const undefinedFields = new Set<string>();
			const getField = parameters.forItem(itemIndex, (field) => undefinedFields.add(field));
			const options = readOptions(getField);
			if (options.concurrency !== undefined) {
				concurrency = Math.min(concurrency ?? MAX_LIMIT, options.concurrency);
			}
			const isAgain = outcome?.isOfEarlierExecution === true && options.createUncertainAgain;
			if (outcome && !isAgain) continue;
			const call = operation.prepare(getField, (limitMs) => newCallback(context, limitMs));
			if (run.wasCutOff && !isRepeatable(operation) && !options.createUncertainAgain) {
				outcomes[itemIndex] = { problem: cutOffProblem(call.job), isOfEarlierExecution: true };
				continue;
			}
			items.push({ itemIndex, call, options });
			for (const field of undefinedFields) {
				const itemsWithout = leftOut.get(field) ?? [];
				leftOut.set(field, itemsWithout);
				itemsWithout.push(itemIndex);
			}
		} catch (error) {
			badInput.push(failItem(run, itemIndex, error));
		}
	}
	return { items, badInput, leftOut, concurrency };
}

/**
 * Reads the credential of each item.
 *
 * @returns as `given`, the clients by the item's position; undefined for an item whose credential can't be used
 */
async function readCredentials(run: Run, concurrency: number | undefined) {
	const { context } = run;
	const signal = context.getExecutionCancelSignal();
	const yieldTurn = turns();
	const limitMs = isTool(context) ? RETRY.toolLimitMs - msSinceFirstTry(context) : undefined;
	const clients = new Clients(context, { concurrency, limitMs }, signal);
	const given = context.getInputData().map((): ServiceClient | undefined => undefined);
	const unread: FatalProblem[] = [];
	const read = async (itemIndex: number) => {
		await yieldTurn();
		try {
			given[itemIndex] = await clients.forItem(itemIndex);
		} catch (error) {
			if (!isCancelled(context)) unread.push(failItem(run, itemIndex, error));
		}
	};
	await inParallel([...given.keys()], READS_AT_ONCE, read, signal);
	return { clients, given, unread };
}

function failItem({ outcomes }: Run, itemIndex: number, cause: unknown): FatalProblem {
	const problem = problemOf(cause);
	outcomes[itemIndex] ??= { problem };
	return { itemIndex, problem, cause };
}

/** Returns a function that lets n8n's other work run if `YIELD_AFTER_MS` have passed since it last did so. */
function turns(): () => Promise<void> {
	let lastYield = Date.now();
	return async () => {
		if (Date.now() - lastYield <= YIELD_AFTER_MS) return;
		await wait(0);
		lastYield = Date.now();
	};
}
