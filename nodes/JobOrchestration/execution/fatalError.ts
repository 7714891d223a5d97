import type { CreatedJob } from '../resources/operation';
import { type NamedJob, nameOf } from '../service/errors/meaning';
import { type NodeError, nodeErrorOf, type PlainError } from '../service/errors/nodeError';
import { asPlainText } from '../service/errors/serviceError';
import { logCreatedJobs, MAX_LISTED } from './report';
import type { FailedItem, Run, Summary } from './run';
import { FROM_ZERO, isCancelled, itemList, summaryOf } from './run';

/** The error that ends the execution, with what there is to know of the other items. */
export function fatalErrorOf(run: Run, failed: FailedItem): NodeError {
	const { context, operation } = run;
	const { itemIndex, error, cause } = failed;
	const summary = summaryOf(run);
	let { message, description } = error;
	if (operation.createsJobs === true) {
		description = [whatToDo(run, failed, summary), ...listsOf(error, summary)].join('\n\n');
		if (isCancelled(context)) logCreatedJobs(context, summary);
		else message = titleOf(failed, summary);
	} else if (summary.count > 1 && error.scope === undefined) {
		// n8n appends the item's number to the title.
		description = `${description}\n\nItems are counted from 0.`;
	}
	const nodeError = nodeErrorOf(context.getNode(), cause, { ...error, message, description });
	// n8n's editor prefers the template to the description, which everything else reads.
	const descriptionTemplate = asPlainText(description).replaceAll('\n', '<br>');
	const { created: createdJobs, uncertain: uncertainItems } = summary;
	Object.assign(nodeError.context, { createdJobs, uncertainItems, descriptionTemplate });
	if (summary.count === 1 || error.scope !== 'all items') nodeError.context.itemIndex = itemIndex;
	return nodeError;
}

/** What the title says as well. */
const REFUSED = /^The service refused to create the job: /;

/** The title of an error that ends a batch of creates, with what stands. With "item 4" in it, n8n appends no "[item 4]". */
function titleOf({ itemIndex, error }: FailedItem, summary: Summary): string {
	const { message, scope } = error;
	const { count, uncertain } = summary;
	if (count === 1 || scope === 'named items') return message;
	const created = summary.created.length;
	const ended = created - summary.running.length;
	let jobs = `${created} of ${count} jobs were created`;
	if (ended > 0) jobs = `${ended} of the ${created} created jobs were ended`;
	else if (uncertain.length > 0)
		jobs = `${created} of ${count} jobs certainly exist, ${uncertain.length} may`;
	if (scope === 'all items') {
		return created + uncertain.length > 0 ? `${message}; ${jobs}` : message;
	}
	const item = `item ${itemIndex} ${FROM_ZERO}`;
	return error.uncertainJob
		? `Failed at ${item}; ${jobs}: ${message}`
		: `Job not created for ${item}; ${jobs}: ${message.replace(REFUSED, '')}`;
}

/** The error's own description, its first line, which says what to do, completed by what to do about the jobs. */
function whatToDo(
	{ context, outcomes }: Run,
	{ itemIndex, error }: FailedItem,
	{ running, uncertain }: Summary,
): string {
	if (running.length + uncertain.length === 0) return error.description;
	const [advice = '', ...details] = error.description.split('\n');
	const isAlone = error.uncertainJob !== undefined && uncertain.length === 1;
	// n8n gives a new execution of a sub-workflow nothing of an earlier one.
	const isSub = context.getMode() === 'integrated';
	const isOld = outcomes[itemIndex]?.isOfEarlierExecution === true;
	const isEdited = error.isWrongValue === true || uncertain.length > 0;
	const sentences = [
		advice,
		error.isWrongValue &&
			'Correct a wrong value in this node, not before it: Retry keeps the items as they came.',
		uncertain.length > 0 &&
			!isAlone &&
			'Look on the service for each job listed below that may exist.',
		uncertain.length > 0 &&
			`${isAlone ? 'If there is no such job' : 'For items without one'}, turn on 'Create Again If Uncertain' in this node's Options.`,
		isOld &&
			`If ${isAlone ? 'it exists' : 'they exist'}, set 'On Error' to 'Continue (using error output)'.`,
		[
			`To continue, use Retry${isSub ? ` of this sub-workflow's own execution, ${context.getExecutionId()},` : ''} in the list of executions`,
			isEdited ? ', with the currently saved workflow' : '',
			running.length > 0 ? ': it creates only the missing jobs.' : '.',
		].join(''),
		(isSub || running.length > 0) &&
			`Don't ${isSub ? 'retry the execution that started it' : 'execute this node again'}: that creates every job again.`,
	];
	return [sentences.filter(Boolean).join(' '), ...details].join('\n');
}

/** What is missing, what may exist and what exists. */
function listsOf({ scope, uncertainJob }: PlainError, summary: Summary): string[] {
	const { count, created, running, uncertain, withoutJob } = summary;
	const lists: string[] = [];
	if (count > 1 && withoutJob.length > 0 && running.length + uncertain.length > 0) {
		lists.push(`Without a job: ${itemList(withoutJob)}.`);
	} else if (count > 1 && scope === 'all items' && created.length === 0) {
		lists.push('No job was created.');
	}
	if (uncertain.length > (uncertainJob ? 1 : 0)) {
		lists.push(listOf(uncertain, 'Jobs that may exist', 'uncertainItems'));
	}
	// First those that could not be ended.
	const order = ({ cleanup }: CreatedJob) => (cleanup === undefined ? 1 : cleanup.success ? 2 : 0);
	const sorted = [...created].sort((a, b) => order(a) - order(b));
	if (sorted.length > 0) lists.push(listOf(sorted, 'Jobs already created', 'createdJobs'));
	return lists;
}

/** Jobs with their items, a line each. @param place where in the error's context all of them are */
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
		return `• item ${job.itemIndex}: ${what}${fateOf(job)}`;
	});
	if (jobs.length > MAX_LISTED) {
		const more = jobs.length - MAX_LISTED;
		lines.push(`• and ${more} more, in the error's context.${place} (an error workflow gets it)`);
	}
	return [`${heading} (${jobs.length})${where}:`, ...lines].join('\n');
}

function fateOf({ cleanup }: Partial<CreatedJob>): string {
	if (cleanup === undefined) return '';
	if (!cleanup.success) return `: could not be ended: ${cleanup.message}`;
	return cleanup.operation === 'stop' ? ': stopped' : ': terminated';
}
