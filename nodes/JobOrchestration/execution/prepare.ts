import { FieldError } from '../fields/fieldError';
import type { Field } from '../fields/form';
import { readValues } from '../fields/values';
import { DEFAULTS } from '../resources/options';
import { Clients } from '../service/clients';
import { problemOf, uncertain } from '../service/errors/problem';
import { RETRY } from '../service/retry/policy';
import { wait } from '../service/timers';
import { newCallback } from '../waitUntilCalled/callback';
import { badInputProblem } from './batchError';
import { inParallel } from './inParallel';
import { msSinceFirstTry } from './retryMemory';
import { type FatalProblem, isCancelled, isTool, type PreparedItem, type Run } from './run';

/**
 * The time after which reading the items pauses. A longer time would block the event loop and delay n8n's other work.
 */
const YIELD_AFTER_MS = 10;

/** What happened to an item that an earlier execution may have sent before n8n was stopped. */
const CUT_OFF = {
	title: 'n8n was stopped while an earlier execution ran this node',
	facts: ["What that execution had sent isn't known."],
};

/** The number of items that are read at once. Reading credentials one by one from n8n's database takes twice as long. */
const READS_AT_ONCE = 20;

/**
 * Reads and checks all items with their credentials, except for those that an earlier run has settled. Items that can't
 * be run get their outcome here.
 *
 * @returns the items that are to be run, in order, and the problem that ends the execution before the first call
 */
export async function prepareAll(run: Run) {
	const { context, outcomes } = run;
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	const signal = context.getExecutionCancelSignal();
	const limitMs = isTool(context) ? RETRY.toolLimitMs - msSinceFirstTry(context) : undefined;
	const clients = new Clients(context, { limitMs }, signal);
	const items: PreparedItem[] = [];
	const failed: FatalProblem[] = [];
	const fail = (itemIndex: number, cause: unknown) => {
		const problem = problemOf(cause);
		outcomes[itemIndex] ??= { problem };
		failed.push({ itemIndex, problem, cause });
	};

	let lastPause = Date.now();
	const read = async (itemIndex: number) => {
		if (Date.now() - lastPause > YIELD_AFTER_MS) {
			await wait(0);
			lastPause = Date.now();
		}
		try {
			const item = readItem(run, itemIndex);
			if (item === undefined) return;
			items.push({ itemIndex, ...item, client: await clients.forItem(itemIndex) });
		} catch (cause) {
			if (!isCancelled(context)) fail(itemIndex, cause);
		}
	};
	await inParallel([...context.getInputData().keys()], READS_AT_ONCE, read, signal);
	items.sort((a, b) => a.itemIndex - b.itemIndex);

	const account = (run.account ??= items[0]?.client.account);
	for (const { itemIndex, client } of items) {
		if (client.account !== account) fail(itemIndex, otherAccountError(account, client.account));
	}
	failed.sort((a, b) => a.itemIndex - b.itemIndex);
	const wrong = failed.filter(({ cause }) => cause instanceof FieldError);
	const fatal = badInputProblem(wrong, { count: outcomes.length, isRetry }) ?? failed[0];
	return {
		items: items.filter(({ client }) => client.account === account),
		fatal: context.continueOnFail() ? undefined : fatal,
	};
}

/**
 * Reads and checks the fields of an item.
 *
 * @returns undefined if the item is not run
 * @throws FieldError
 */
function readItem({ context, operation, outcomes, wasCutOff, leftOut }: Run, itemIndex: number) {
	const outcome = outcomes[itemIndex];
	if (outcome !== undefined && outcome.isOfEarlierExecution !== true) return undefined;
	const read = <const Fields extends readonly Field[]>(fields: Fields) =>
		readValues(context, fields, itemIndex, (label) => {
			const items = leftOut.get(label) ?? [];
			leftOut.set(label, items);
			items.push(itemIndex);
		});
	const { options } = read([operation.options]);
	const { createUncertainAgain = false } = options;
	if (outcome !== undefined && !createUncertainAgain) return undefined;
	const values = { ...read(operation.fields), options };
	const prepared = operation.prepare(values, (limitMs) => newCallback(context, limitMs));
	const { idempotent, job } = prepared.call;
	if (wasCutOff && !idempotent && !createUncertainAgain) {
		outcomes[itemIndex] = { problem: uncertain(CUT_OFF, job), isOfEarlierExecution: true };
		return undefined;
	}
	return { prepared, options: { ...DEFAULTS, ...options } };
}

/** Returns the error of an item whose account is not the one that the node has begun with. */
function otherAccountError(begun: string | undefined, now: string): FieldError {
	return new FieldError(
		'Credential',
		'leads to another account',
		`This node has begun as ${begun}, and the credential is now for ${now}. Give this node the credential of the first account again. For another account, start a new execution with the items that are still to be done.`,
	);
}
