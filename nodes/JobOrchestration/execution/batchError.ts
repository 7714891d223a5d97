import { correctionOf } from './correction';
import { nodeErrorOf, type Problem } from '../service/errors/problem';
import { mayBeWrongValue } from '../service/errors/statuses';
import { present } from '../texts';
import {
	COUNTED_FROM_0,
	itemList,
	jobList,
	logCreatedJobs,
	type Summary,
	summaryOf,
} from './report';
import { type FatalProblem, isCancelled, type Run } from './run';

/*
 * The error that ends the execution. It says what was done to all items, always in the same layout:
 *
 *     3 of 6 jobs were created; item 3 failed: <the title of its problem>
 *
 *     <what to do about the problem, and how to continue>
 *
 *     Done: items 0 to 2. Failed: item 3. Not begun: items 4 to 5. Items are counted from 0.
 *
 *     <the jobs that may exist, and those that were created>
 *
 *     <what the service says, and the other facts of the problem>
 */

/** Returns the error that ends the execution, with what is known about the other items. */
export function fatalErrorOf(run: Run, { itemIndex, problem, cause }: FatalProblem) {
	const { context, operation } = run;
	const summary = summaryOf(run);
	const { count, created: createdJobs, uncertain: uncertainItems, succeeded } = summary;
	const isStopped = isCancelled(context);
	if (operation.createsJobs === true && isStopped) logCreatedJobs(context, summary);
	const hasEffects = succeeded.length + uncertainItems.length > 0 || problem.mayHaveActed === true;
	const isOfItem = problem.scope === undefined;
	const isBatch = count > 1 && (hasEffects || isOfItem);
	// Retry keeps the items as they came, so a wrong value of an item has to be corrected in this node.
	const said = [problem.title, problem.advice, ...problem.facts.slice(0, 1)];
	const isWrongValue = mayBeWrongValue(problem.httpStatus) && problem.scope !== 'all items';
	const correction =
		hasEffects && isWrongValue && !isStopped && correctionOf({ context, itemIndex }, said);
	const orPast =
		correction &&
		"If there is no right value, set 'On Error' to 'Continue (using error output)' to go past this item.";
	const failed = isOfItem ? `; item ${itemIndex} failed` : '';
	const inBatch: Problem = {
		...problem,
		// If a title contains "item 4", n8n's editor does not append "[item 4]" to it.
		...(isBatch &&
			!isStopped &&
			problem.scope !== 'named items' && {
				title: `${resultOf(run, summary)}${failed}: ${problem.title}`,
			}),
		...(hasEffects && {
			advice: [problem.advice, correction, orPast, todoOf(run, summary, problem)]
				.filter(Boolean)
				.join('\n'),
		}),
		lists: present([
			present([
				...(problem.lists ?? []),
				isBatch && listOfItems(summary),
				count > 1 && (isBatch || problem.scope === 'named items') && COUNTED_FROM_0,
			]).join(' '),
			uncertainItems.length > (problem.uncertainJob ? 1 : 0) &&
				listOfJobs(uncertainItems, 'Jobs that may exist', 'uncertainItems'),
			createdJobs.length > 0 && listOfJobs(createdJobs, 'Jobs already created', 'createdJobs'),
		]),
	};
	const nodeError = nodeErrorOf(context.getNode(), cause, inBatch);
	// Machines read the context, so it has each ID as it is.
	const created = createdJobs.map(({ itemIndex: item, uid, displayName, namespace }) => {
		return { itemIndex: item, uid, displayName, namespace };
	});
	Object.assign(nodeError.context, { createdJobs: created, uncertainItems });
	if (count === 1 || problem.scope !== 'all items') nodeError.context.itemIndex = itemIndex;
	return nodeError;
}

/** Returns how many items are done: "3 of 6 jobs were created, 1 more may exist". */
function resultOf({ operation: { done } }: Run, { count, uncertain, succeeded }: Summary): string {
	const what = done === undefined ? 'items succeeded' : `jobs were ${done}`;
	const more = uncertain.length > 0 ? `, ${uncertain.length} more may exist` : '';
	return `${succeeded.length} of ${count} ${what}${more}`;
}

/** Returns what to do about the items that are done or whose job may exist. */
function todoOf(
	{ context, operation }: Run,
	{ count, uncertain, succeeded }: Summary,
	{ mayHaveActed }: Problem,
): string {
	if (isCancelled(context)) {
		return 'n8n offers no Retry after a cancel: to continue, start a new execution with the items that are not done.';
	}
	// n8n passes nothing on from the execution of a sub-workflow: only the Retry of that execution knows what is done.
	const retry = `use Retry of execution ${context.getExecutionId()} in the list of executions (the arrow ↷), with the currently saved workflow: it runs only the items that are not done, as they came to this node`;
	const none = "If it doesn't exist, turn on 'Create Again If Uncertain' in this node's Options";
	const one = "If it exists, set 'On Error' to 'Continue (using error output)'";
	const again = '; running this node in another way creates every job again';
	const isCreate = operation.createsJobs === true && (count > 1 || succeeded.length > 0);
	const past =
		"Retry doesn't send this item again. To continue past it, first set 'On Error' to 'Continue (using error output)'. To continue,";
	const next = mayHaveActed === true ? past : 'To continue,';
	const start = uncertain.length > 0 ? `${none}. ${one}. Then` : next;
	return `${start} ${retry}${isCreate ? again : ''}.`;
}

function listOfItems({ succeeded, failed, notBegun }: Summary): string {
	const lists = { Done: succeeded, Failed: failed, 'Not begun': notBegun };
	const named = Object.entries(lists).filter(([, items]) => items.length > 0);
	return named.map(([what, items]) => `${what}: ${itemList(items)}.`).join(' ');
}

/** Returns a list of jobs, one per line. @param place the field of the error's context that holds all of them */
function listOfJobs(jobs: Parameters<typeof jobList>[0], heading: string, place: string): string {
	const lines = jobList(jobs, `, in the error's context.${place}`).map((line) => `• ${line}`);
	return [`${heading} (${jobs.length}):`, ...lines].join('\n');
}

/**
 * Returns one problem for all items with wrong fields: that of the first one, and which others have a problem, too.
 *
 * @param count the number of all items of the node
 */
export function badInputProblem(
	[first, ...others]: FatalProblem[],
	{ count, isRetry }: { count: number; isRetry: boolean },
): FatalProblem | undefined {
	if (first === undefined) return undefined;
	const { itemIndex, problem } = first;
	const what = isRetry ? 'Nothing more was sent' : 'Nothing was sent';
	const which = count > 1 ? ` for item ${itemIndex}` : '';
	const items = itemList(others.map((other) => other.itemIndex));
	const more = others.length === 1 ? 'One more item has' : `${others.length} more items have`;
	return {
		itemIndex,
		problem: {
			...problem,
			title: `${what}. ${problem.title}${which}.`,
			lists: others.length > 0 ? [`${more} wrong values: ${items}.`] : [],
			scope: 'named items',
		},
	};
}
