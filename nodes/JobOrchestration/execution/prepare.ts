import { FieldError } from '../fields/expressions';
import { readValues } from '../fields/values';
import type { JsonObject } from '../json';
import { DEFAULTS } from '../resources/operation';
import { ServiceClient } from '../service/client';
import { problemOf, uncertain } from '../service/errors/problem';
import { readCredential } from '../service/session/credential';
import type { Session } from '../service/session/session';
import { TOOL_LIMIT_MS } from '../service/request';
import { inParallel, sharedPause } from '../service/timers';
import { isTool } from './n8nRetry';
import { isCancelled, type ItemProblem, type Run } from './run';
import { itemList } from './summary';

/**
 * The time after which reading the items pauses. A longer time would block the event loop and delay n8n's other work.
 */
const YIELD_AFTER_MS = 10;

/** The number of items that are read at once. Reading credentials one by one from n8n's database takes twice as long. */
const READS_AT_ONCE = 20;

/** What happened to an item that an earlier execution may have sent before n8n was stopped. */
const CUT_OFF = {
	title: 'n8n was stopped while an earlier execution ran this node',
	facts: ["What that execution had sent isn't known."],
};

/**
 * Reads and checks all items with their credentials, except for those that an earlier run has settled. Items that can't
 * be run get their outcome here.
 *
 * @returns the items that are to be run, in order, and the problem that ends the execution before the first call
 */
export async function prepareAll(run: Run) {
	const { context, outcomes, account: earlierAccount } = run;
	const signal = context.getExecutionCancelSignal();
	const { parameters } = context.getNode();
	const pauseIfDue = sharedPause(YIELD_AFTER_MS);
	const indices = [...context.getInputData().keys()];
	const all = await inParallel(indices, { atOnce: READS_AT_ONCE, signal }, async (itemIndex) => {
		await pauseIfDue();
		try {
			const item = readItem(run, itemIndex, parameters);
			return item && { itemIndex, ...item, ...(await readCredential(context, itemIndex, signal)) };
		} catch (cause) {
			return isCancelled(context) ? undefined : failedBy(cause, itemIndex);
		}
	});
	const read = all.filter((item) => item !== undefined);
	const usable = read.find((item) => 'session' in item);
	run.account ??= usable?.session.account.name;
	const { account = '' } = run;
	const clients = new Map<Session, ServiceClient>();
	const limitMs = msLeftForTool(run);
	const checked = read.map((item) => {
		// If the credential can be used for other items, an expression in it gives a wrong value for this one.
		if ('problem' in item)
			return usable ? { ...item, problem: { ...item.problem, scope: undefined } } : item;
		const { itemIndex, session, access, prepared, options } = item;
		const { name } = session.account;
		if (name !== account) {
			const error = otherAccountError(account, name, earlierAccount !== undefined);
			return failedBy(error, itemIndex);
		}
		// The password may differ from item to item, and each item is sent with its own.
		const client =
			clients.get(session) ?? new ServiceClient(context, { session, access }, { limitMs });
		clients.set(session, client);
		return { itemIndex, prepared, options, client };
	});
	const failed = checked.filter((item) => 'problem' in item);
	// A job that may exist is more than a wrong value.
	for (const { itemIndex, problem } of failed) outcomes[itemIndex] ??= { problem };
	return {
		items: checked.filter((item) => 'client' in item),
		fatal: context.continueOnFail() ? undefined : (problemOfWrongValues(run, failed) ?? failed[0]),
	};
}

const failedBy = (cause: unknown, itemIndex: number): ItemProblem => ({
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

/** Returns one problem for all items with wrong values: that of the first one, and which others have wrong values, too. */
function problemOfWrongValues(
	{ outcomes, recalled }: Run,
	failed: ItemProblem[],
): ItemProblem | undefined {
	const [first, ...others] = failed.filter(({ cause }) => cause instanceof FieldError);
	if (first === undefined) return undefined;
	const { itemIndex, problem } = first;
	const what = recalled.some(Boolean) ? 'Nothing more was sent' : 'Nothing was sent';
	const which = outcomes.length > 1 ? ` for item ${itemIndex}` : '';
	const more = others.length === 1 ? 'One more item has' : `${others.length} more items have`;
	const items = itemList(others.map((other) => other.itemIndex));
	const title = `${what}. ${problem.title}${which}.`;
	const lists = others.length > 0 ? [`${more} wrong values: ${items}.`] : [];
	return { itemIndex, problem: { ...problem, title, lists, scope: 'named items' } };
}

/** Returns for how many milliseconds a tool may still send requests, counted over all tries; undefined for another node. */
function msLeftForTool({ context, shared }: Run): number | undefined {
	if (!isTool(context)) return undefined;
	return shared.beganAt + TOOL_LIMIT_MS - performance.now();
}
