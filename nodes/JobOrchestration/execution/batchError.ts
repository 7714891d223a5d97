import { correctionOf } from '../fields/expressions';
import { nodeErrorOf } from '../service/errors/problem';
import { mayBeWrongValue } from '../service/errors/statuses';
import { MAX, nameOfExecution, present } from '../texts';
import { isCancelled, type ItemProblem, type Run } from './run';
import { COUNTED_FROM_0, itemList, jobList, type Summary, summaryOf } from './summary';

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
export function fatalErrorOf(run: Run, failed: ItemProblem) {
	const { context, operation } = run;
	const { itemIndex, problem, cause } = failed;
	const summary = summaryOf(run);
	const { count, succeeded, created, uncertain } = summary;
	const { scope } = problem;
	const isStopped = isCancelled(context);
	if (isStopped && operation.done === 'created') logJobs(run, summary);
	const hasEffects = succeeded.length + uncertain.length > 0 || problem.mayHaveActed === true;
	const isNamed = scope === 'named items';
	// If nothing was done, a problem of several items says enough about them.
	const listsItems = count > 1 && (hasEffects || scope === undefined);
	const isCounted = listsItems || (isNamed && count > 1);
	const ofItems = [listsItems && listOfItems(summary), isCounted && COUNTED_FROM_0];
	const nodeError = nodeErrorOf(context.getNode(), cause, {
		...problem,
		title:
			listsItems && !isNamed && !isStopped ? titleInBatch(run, summary, failed) : problem.title,
		advice: hasEffects
			? present([problem.advice, nextStepsOf(run, summary, failed)]).join('\n')
			: problem.advice,
		lists: present([
			present([...(problem.lists ?? []), ...ofItems]).join(' '),
			uncertain.length > (problem.uncertainJob ? 1 : 0) &&
				listOfJobs(uncertain, 'Jobs that may exist', 'uncertainItems'),
			created.length > 0 && listOfJobs(created, 'Jobs already created', 'createdJobs'),
		]),
	});
	// Machines read the context, so it has each ID as it is.
	const createdJobs = created.map(({ itemIndex: item, uid, displayName, namespace }) => {
		return { itemIndex: item, uid, displayName, namespace };
	});
	Object.assign(nodeError.context, { createdJobs, uncertainItems: uncertain });
	if (count === 1 || scope !== 'all items') nodeError.context.itemIndex = itemIndex;
	return nodeError;
}

/**
 * Returns a problem's title that begins with what is done: "3 of 6 jobs were created, 1 more may exist; item 3 failed:
 * ...". If a title contains "item 3", n8n's editor does not append "[item 3]" to it.
 */
function titleInBatch(
	{ operation: { done } }: Run,
	{ count, uncertain, succeeded }: Summary,
	{ itemIndex, problem: { title, scope } }: ItemProblem,
): string {
	const what = done === undefined ? 'items succeeded' : `jobs were ${done}`;
	const more = uncertain.length > 0 ? `, ${uncertain.length} more may exist` : '';
	const which = scope === undefined ? `; item ${itemIndex} failed` : '';
	return `${succeeded.length} of ${count} ${what}${more}${which}: ${title}`;
}

/** Returns how to continue if items are done or their jobs may exist: how to correct a wrong value, and what to do. */
function nextStepsOf(
	{ context, operation }: Run,
	{ count, uncertain, succeeded }: Summary,
	{ itemIndex, problem }: ItemProblem,
): string {
	if (isCancelled(context)) {
		return 'n8n offers no Retry after a cancel: to continue, start a new execution with the items that are not done.';
	}
	const { title, advice, facts, httpStatus, mayHaveActed, scope } = problem;
	const isWrongValue = mayBeWrongValue(httpStatus) && scope !== 'all items';
	const goPast = "set 'On Error' to 'Continue (using error output)'";
	let first = 'To continue,';
	if (uncertain.length > 0) {
		first = `If it doesn't exist, turn on 'Create Again If Uncertain' in this node's Options. If it exists, ${goPast}. Then`;
	} else if (mayHaveActed === true) {
		first = `Retry doesn't send this item again. To continue past it, first ${goPast}. To continue,`;
	}
	const createsAgain = operation.done === 'created' && (count > 1 || succeeded.length > 0);
	const warning = createsAgain ? '; running this node in another way creates every job again' : '';
	// The title and the first fact quote the service after a colon.
	const quotes = [title, facts[0] ?? ''].map((text) => text.split(/: (.*)/s)[1] ?? '');
	return present([
		isWrongValue &&
			correctionOf({ context, itemIndex }, { own: [title, advice], service: quotes.join('\n') }),
		// n8n passes nothing on from the execution of a sub-workflow: only the Retry of that execution knows what is done.
		`${first} use Retry of execution ${context.getExecutionId()} in the list of executions (the arrow ↷), with the currently saved workflow: it runs only the items that are not done, as they came to this node${warning}.`,
	]).join('\n');
}

function listOfItems({ succeeded, failed, notBegun }: Summary): string {
	const lists = { Done: succeeded, Failed: failed, 'Not begun': notBegun };
	const named = Object.entries(lists).filter(([, items]) => items.length > 0);
	return named.map(([what, items]) => `${what}: ${itemList(items)}.`).join(' ');
}

/** Returns a list of jobs, one per line. @param place the field of the error's context that has all of them */
function listOfJobs(jobs: Parameters<typeof jobList>[0], heading: string, place: string): string {
	const lines = jobList(jobs, `, in the error's context.${place}`).map((line) => `• ${line}`);
	return [`${heading} (${jobs.length}):`, ...lines].join('\n');
}

/**
 * Writes the jobs of a cancelled execution to n8n's log: those that it has created, and those that may exist. This is
 * needed because n8n 2.x drops the error of a cancelled execution.
 */
function logJobs({ context, shared }: Run, { created, uncertain }: Summary): void {
	// After a cancel, n8n still begins each try of Retry On Fail, although nothing is sent.
	if (shared.isLogged === true) return;
	shared.isLogged = true;
	const most = Math.max(created.length, uncertain.length, 1);
	for (let start = 0; start < most; start += MAX.jobsInLog) {
		const [made, unclear] = [created, uncertain].map(
			(jobs) => jobList(jobs.slice(start, start + MAX.jobsInLog)).join('; ') || 'none',
		);
		context.logger.warn(
			`${nameOfExecution(context)} was cancelled. Jobs already created: ${made}. Jobs that may exist: ${unclear}`,
		);
	}
}
