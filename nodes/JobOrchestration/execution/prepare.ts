import { FieldError } from '../fields/expressions';
import { readValues } from '../fields/values';
import type { JsonObject } from '../json';
import { DEFAULTS } from '../resources/operation';
import { ServiceClient } from '../service/client';
import { problemOf, uncertain } from '../service/errors/problem';
import { readCredential } from '../service/session/credential';
import type { Session } from '../service/session/session';
import { SharedPause } from '../service/timers';
import { badInputProblem } from './batchError';
import { type FatalProblem, isCancelled, msLeftForTool, type Run } from './run';

/**
 * The time after which reading the items pauses. A longer time would block the event loop and delay n8n's other work.
 */
const YIELD_AFTER_MS = 10;

/** The number of items that are read at once. Reading credentials one by one from n8n's database takes twice as long. */
const READS_AT_ONCE = 20;

/**
 * The maximum number of items in progress. Large enough that items which wait for a Retry-After don't fill the window,
 * small enough to limit the memory for items in progress.
 */
const WINDOW = 2_000;

/** What happened to an item that an earlier execution may have sent before n8n was stopped. */
const CUT_OFF = {
	title: 'n8n was stopped while an earlier execution ran this node',
	facts: ["What that execution had sent isn't known."],
};

/**
 * Runs `work` for each element in order, with at most `atOnce` elements in progress at the same time. Begins no further
 * element once the signal is aborted.
 *
 * @param work must not reject
 * @returns the results, in the order of the elements
 */
export async function inParallel<Element, Result>(
	elements: readonly Element[],
	{ atOnce = WINDOW, signal }: { atOnce?: number; signal?: AbortSignal | undefined },
	work: (element: Element) => Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	const queue = elements.entries();
	const worker = async () => {
		for (const [index, element] of queue) {
			if (signal?.aborted !== true) results[index] = await work(element);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, elements.length) }, worker));
	return results;
}

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
	const { parameters } = context.getNode();
	const pauses = new SharedPause(YIELD_AFTER_MS);
	const indices = [...context.getInputData().keys()];
	const all = await inParallel(indices, { atOnce: READS_AT_ONCE, signal }, async (itemIndex) => {
		await pauses.ifDue();
		try {
			const item = readItem(run, itemIndex, parameters);
			return item && { itemIndex, ...item, ...(await readCredential(context, itemIndex, signal)) };
		} catch (cause) {
			return isCancelled(context) ? undefined : failedBy(cause, itemIndex);
		}
	});
	const read = all.filter((item) => item !== undefined);
	const { account: before } = run;
	run.account ??= read.find((item) => 'session' in item)?.session.account.name;
	const { account = '' } = run;
	const clients = new Map<Session, ServiceClient>();
	const limitMs = msLeftForTool(context);
	const checked = read.map((item) => {
		if ('problem' in item) return item;
		const { itemIndex, session, access, prepared, options } = item;
		const { name } = session.account;
		if (name !== account) {
			const error = otherAccountError(account, name, before !== undefined);
			return failedBy(error, itemIndex);
		}
		// The password may differ from item to item, and each item is sent with its own.
		const client =
			clients.get(session) ?? new ServiceClient(context, { session, access }, { limitMs });
		clients.set(session, client);
		return { itemIndex, prepared, options, client };
	});
	const failed = checked.filter((item) => 'problem' in item);
	for (const { itemIndex, problem } of failed) outcomes[itemIndex] ??= { problem };
	const wrong = failed.filter(({ cause }) => cause instanceof FieldError);
	const fatal = badInputProblem(wrong, { count: outcomes.length, isRetry }) ?? failed[0];
	return {
		items: checked.filter((item) => 'client' in item),
		fatal: context.continueOnFail() ? undefined : fatal,
	};
}

const failedBy = (cause: unknown, itemIndex: number): FatalProblem => ({
	itemIndex,
	problem: problemOf(cause),
	cause,
});

/**
 * Reads and checks the fields of an item.
 *
 * @returns undefined if the item is not run
 * @throws FieldError
 */
function readItem(run: Run, itemIndex: number, parameters: JsonObject) {
	const { context, operation, outcomes, wasCutOff } = run;
	const item = { context, itemIndex };
	const outcome = outcomes[itemIndex];
	if (outcome !== undefined) {
		if (outcome.isOfEarlierExecution !== true) return undefined;
		const { options } = readValues(item, parameters, [operation.options]);
		if (options.createUncertainAgain !== true) return undefined;
	}
	const values = readValues(item, parameters, [...operation.fields, operation.options]);
	const { options } = values;
	const { createUncertainAgain = false } = options;
	const prepared = operation.prepare(values, context);
	const { idempotent, job } = prepared.call;
	if (wasCutOff && !idempotent && !createUncertainAgain) {
		outcomes[itemIndex] = { problem: uncertain(CUT_OFF, job), isOfEarlierExecution: true };
		return undefined;
	}
	return { prepared, options: { ...DEFAULTS, ...options } };
}

/**
 * Returns the error of an item whose account is not the one that the node has begun with.
 *
 * @param isOfEarlierRun whether an earlier run has begun with that account
 */
function otherAccountError(begun: string, now: string, isOfEarlierRun: boolean): FieldError {
	const toDo = isOfEarlierRun
		? 'Give this node the credential of the first account again. For another account, start a new execution with the items that are still to be done.'
		: 'All items of a run have the same account. If an expression in the credential chooses it, put a Loop Over Items node with Batch Size 1 before this node, or start a sub-workflow for each item.';
	const advice = `This node has begun as ${begun}, and the credential is now for ${now}. ${toDo}`;
	return new FieldError('Credential', 'leads to another account', advice);
}
