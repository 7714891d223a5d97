import type { IExecuteFunctions } from 'n8n-workflow';

/*
 * What errors, hints and logs say. The parts of a text stay apart until n8n's error or an error item is made of them.
 */

/** What an error says. */
export interface Texts {
	/** What happened, in about 80 characters at most. */
	message: string;
	/** The service's own words, which follow the message in the title, in about 80 characters at most. */
	words?: string | undefined;
	/** Whether the message only introduces the words, such as "The service refused to create the job". */
	isIntroduction?: boolean;
	/** What became of the job, for the end of the title: "the job may exist". */
	fate?: string | undefined;
	/** What to do. */
	advice: string;
	/** All that the service says. */
	reason?: string | undefined;
	/** What else is known. */
	detail?: string | undefined;
	/** Why the item was not run again. */
	note?: string | undefined;
	/** What is known of the other items and their jobs. */
	lists?: string[];
}

/** The title of an error, as plain text. */
export function titleOf({ message, words, fate }: Texts): string {
	const title = words === undefined ? message : `${message}: ${words}`;
	return fate === undefined ? title : `${title.replace(/\.$/, '')}; ${fate}`;
}

/** The description of an error, as plain text: first what to do, then what is known, a line each. */
export function descriptionOf({ advice, reason, detail, note, lists = [] }: Texts): string {
	const lines = [advice, reason, sentences([detail, note])].filter(Boolean);
	return [lines.join('\n'), ...lists].join('\n\n');
}

/** The sentences that are there, in one line. */
export const sentences = (texts: Array<string | undefined | false>) =>
	texts.filter(Boolean).join(' ');

/**
 * A text as n8n can show it anywhere: its editor reads HTML and backticks. Look-alikes replace what would be markup. JSON
 * that a workflow reads has the text itself.
 */
export function asPlainText(text: string): string {
	return text
		.replaceAll('<', '‹')
		.replaceAll('>', '›')
		.replaceAll('`', 'ˋ')
		.replace(/&(?=#?\w+;)/g, '＆');
}

/** A title as n8n can show it. n8n takes "canceled" in it for a cancel, so an invisible character parts that word. */
export const asTitle = (text: string) => asPlainText(text).replaceAll('canceled', 'cancele\u2060d');

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** A text for a title, cut if it is long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	// No more than the beginning is split into characters.
	const characters = [...text.slice(0, 2 * max + 1)];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** A job by what people look for it. */
export interface NamedJob {
	namespace: string;
	displayName: string;
}

/** Characters of a name at most. With all, an error of 400 jobs with names of 20 kB would have millions. */
const MAX_NAME = 100;

/** A name or an ID as a sentence shows it, cut if it is long. */
export const shorten = (name: string) => truncate(name, MAX_NAME);

/** A job with its names as errors, hints and logs show them: cut if they are long. */
export function withShortNames<Job extends NamedJob>(job: Job): Job {
	return { ...job, namespace: shorten(job.namespace), displayName: shorten(job.displayName) };
}

/** "'Report' in namespace 'default'" */
export function nameOf(job: NamedJob): string {
	const { displayName, namespace } = withShortNames(job);
	return `'${displayName}' in namespace '${namespace}'`;
}

/** A node and its execution, as logs name them. */
export function nameOfExecution(context: IExecuteFunctions): string {
	return `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
}

/** What follows the numbers of items in a title or a hint: users count rows from 1. */
export const FROM_ZERO = '(counted from 0)';

/** As many numbers and ranges as fit into one sentence. */
const MAX_NAMED = 10;

/** Items by their numbers, from 0, in order: "item 4", "items 4 and 14", "items 2, 24 to 99 and 20 more". */
export function itemList(items: readonly number[]): string {
	const ranges: number[][] = [];
	for (const item of items) {
		const range = ranges.at(-1);
		if (range?.at(-1) === item - 1) range.push(item);
		else ranges.push([item]);
	}
	const parts = ranges.flatMap((range) =>
		range.length < 3 ? range.map((item) => [item]) : [range],
	);
	const names = parts
		.slice(0, MAX_NAMED)
		.map((part) => (part.length === 1 ? `${part[0]}` : `${part[0]} to ${part.at(-1)}`));
	const more = parts.slice(MAX_NAMED).flat().length;
	if (more > 0) names.push(`${more} more`);
	const last = names.pop();
	const list = names.length === 0 ? last : `${names.join(', ')} and ${last}`;
	return `${items.length === 1 ? 'item' : 'items'} ${list}`;
}
