import { correctionOf } from '../fields/expressions';
import type { CreatedJob } from '../resources/operation';
import { type NodeError, nodeErrorOf, type Problem } from '../service/errors/problem';
import {
	FROM_ZERO,
	itemList,
	type NamedJob,
	nameOf,
	sentences,
	type Texts,
	titleOf,
} from '../texts';
import { logCreatedJobs } from './cancelLog';
import { MAX_LISTED, type Summary, summaryOf } from './outcomes';
import { type FatalProblem, isCancelled, type Run } from './run';

/*
 * The error that ends the execution. It says what was done to all items.
 */

/** Returns the error that ends the execution, with the known facts about the other items. */
export function fatalErrorOf(run: Run, { itemIndex, problem, cause }: FatalProblem): NodeError {
	const { context, operation } = run;
	const summary = summaryOf(run);
	const { created: createdJobs, uncertain: uncertainItems } = summary;
	const isCreate = operation.createsJobs === true;
	if (isCreate && isCancelled(context)) logCreatedJobs(context, summary);
	const inBatch: Problem = {
		...problem,
		...(isCancelled(context) ? {} : titleInBatch(run, { itemIndex, problem }, summary)),
		advice: adviceInBatch(run, { itemIndex, problem }, summary),
		lists: isCreate ? listsOfJobs(problem, summary) : listsOfItems(problem, summary),
	};
	const nodeError = nodeErrorOf(context.getNode(), cause, inBatch);
	Object.assign(nodeError.context, { createdJobs, uncertainItems });
	if (summary.count === 1 || problem.scope !== 'all items') nodeError.context.itemIndex = itemIndex;
	return nodeError;
}

/**
 * Returns the parts of the title, with the number of items that are done. If a title contains "item 4", n8n's editor
 * does not append "[item 4]" to it.
 */
function titleInBatch(
	{ operation: { done, createsJobs } }: Run,
	{ itemIndex, problem }: FatalProblem,
	summary: Summary,
): Partial<Texts> {
	const { scope, words, isIntroduction } = problem;
	const { count, succeeded, uncertain } = summary;
	const isAlone = done === undefined && succeeded.length === 0;
	if (count === 1 || isAlone || scope === 'named items') return {};
	const finished = createsJobs === true ? summary.created.length : succeeded.length;
	const result = resultOf(summary, finished, done);
	if (scope === 'all items') return finished + uncertain.length > 0 ? { fate: result } : {};
	const item = `item ${itemIndex} ${FROM_ZERO}`;
	const isUnclear = problem.mayHaveActed === true || done === undefined;
	return {
		message: `${isUnclear ? 'Failed at' : `Job not ${done} for`} ${item}; ${result}`,
		words: isIntroduction === true && !isUnclear ? words : titleOf(problem),
		fate: undefined,
	};
}

/** Returns the part of the title that says how many items are done. */
function resultOf(
	{ count, created, uncertain }: Summary,
	finished: number,
	done: string | undefined,
): string {
	if (uncertain.length > 0)
		return `${created.length} of ${count} jobs certainly exist, ${uncertain.length} may`;
	return `${finished} of ${count} ${done === undefined ? 'items succeeded' : `jobs were ${done}`}`;
}

/** Returns the advice about the problem, completed by the advice about the other items. */
function adviceInBatch(
	{ context, outcomes, operation: { createsJobs = false } }: Run,
	{ itemIndex, problem }: FatalProblem,
	{ succeeded, created, uncertain }: Summary,
): string {
	const kept = createsJobs ? created.length : succeeded.length;
	if (kept + uncertain.length === 0) return problem.advice;
	const isAlone = problem.uncertainJob !== undefined && uncertain.length === 1;
	const look =
		uncertain.length > 0 &&
		!isAlone &&
		'Look on the service for each job listed below that may exist.';
	if (isCancelled(context)) {
		return sentences([
			isAlone && problem.advice,
			look,
			'n8n offers no Retry after a cancel: to continue, start a new execution with the items that are not done.',
		]);
	}
	// n8n passes nothing from an earlier execution of a sub-workflow on to a new one.
	const isSub = context.getMode() === 'integrated';
	const isOld = outcomes[itemIndex]?.isOfEarlierExecution === true;
	const isUncertainChange = problem.mayHaveActed === true && !createsJobs;
	const isEdited = problem.isWrongValue === true || uncertain.length > 0 || isUncertainChange;
	const only = createsJobs
		? 'it creates only the missing jobs'
		: 'it runs only the items that are not done';
	const isListed = problem.uncertainJob !== undefined && !isAlone;
	const todo = sentences([
		!isListed && problem.advice,
		problem.isWrongValue === true &&
			(correctionOf({ context, itemIndex }, [
				titleOf(problem),
				problem.reason ?? '',
				problem.advice,
			]) ??
				'Correct a wrong value in this node, not before it: Retry keeps the items as they came.'),
		look,
		uncertain.length > 0 &&
			`${isAlone ? 'If there is no such job' : 'For items without one'}, turn on 'Create Again If Uncertain' in this node's Options.`,
		isUncertainChange &&
			"Retry doesn't send this item again. To continue past it, first set 'On Error' to 'Continue (using error output)'.",
		isOld &&
			createsJobs &&
			`If ${isAlone ? 'it exists' : 'they exist'}, set 'On Error' to 'Continue (using error output)'.`,
		[
			`To continue, use Retry${isSub ? ` of this sub-workflow's own execution, ${context.getExecutionId()},` : ''} in the list of executions (the arrow ↷)`,
			isEdited ? ', with the currently saved workflow' : '',
			kept > 0 ? `: ${only}.` : '.',
		].join(''),
	]);
	if (!createsJobs || !(isSub || kept > 0)) return todo;
	const wrong = isSub ? 'retry the execution that started it' : 'execute this node again';
	return `${todo}\nDon't ${wrong}: that creates every job again.`;
}

/** Returns the list of the items that were done, that failed, and that were not begun. */
function listsOfItems(
	{ scope }: Problem,
	{ count, succeeded, failed, notBegun }: Summary,
): string[] {
	if (count === 1 || scope === 'named items' || succeeded.length === 0) return [];
	const lists = { Done: succeeded, Failed: failed, 'Not begun': notBegun };
	const lines = Object.entries(lists).filter(([, items]) => items.length > 0);
	return [lines.map(([what, items]) => `${what}: ${itemList(items)}.`).join('\n')];
}

/** Returns the lists of the items without a job, of the jobs that may exist, and of the jobs that exist. */
function listsOfJobs({ scope, httpStatus, uncertainJob }: Problem, summary: Summary): string[] {
	const { count, created, uncertain, withoutJob } = summary;
	const lists: string[] = [];
	if (count > 1 && withoutJob.length > 0 && created.length + uncertain.length > 0) {
		lists.push(`Without a job: ${itemList(withoutJob)}.`);
	} else if (
		count > 1 &&
		scope === 'all items' &&
		httpStatus !== undefined &&
		created.length === 0
	) {
		lists.push('No job was created.');
	}
	if (uncertain.length > (uncertainJob ? 1 : 0)) {
		lists.push(listOf(uncertain, 'Jobs that may exist', 'uncertainItems'));
	}
	if (created.length > 0) lists.push(listOf(created, 'Jobs already created', 'createdJobs'));
	return lists;
}

/**
 * Returns a list of jobs with their items, one job per line.
 *
 * @param place the field of the error's context that holds all of these jobs
 */
function listOf(
	jobs: Array<{ itemIndex: number } & NamedJob & Partial<CreatedJob>>,
	heading: string,
	place: string,
): string {
	const isOne = new Set(jobs.map(({ namespace }) => namespace)).size === 1;
	const where = isOne ? ` in namespace '${jobs[0]?.namespace}'` : '';
	const lines = jobs.slice(0, MAX_LISTED).map((job) => {
		const name = isOne ? `'${job.displayName}'` : nameOf(job);
		const what = job.uid === undefined ? name : `${job.uid} (${name})`;
		return `• item ${job.itemIndex}: ${what}`;
	});
	if (jobs.length > MAX_LISTED) {
		const more = jobs.length - MAX_LISTED;
		lines.push(`• and ${more} more, in the error's context.${place} (an error workflow gets it)`);
	}
	return [`${heading} (${jobs.length})${where}:`, ...lines].join('\n');
}
