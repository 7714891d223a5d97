import type { IExecuteFunctions } from 'n8n-workflow';

/*
 * The texts of errors, hints and logs. The parts of a text stay apart until n8n's error or an error item is made of
 * them.
 */

/** The parts of an error's text. */
export interface Texts {
	/** What happened, in at most about 80 characters. */
	message: string;
	/** The service's own words, which follow the message in the title, in at most about 80 characters. */
	words?: string | undefined;
	/** Whether the message only introduces the words, such as "The service refused to create the job". */
	isIntroduction?: boolean;
	/** The end of the title, which says what became of the job: "the job may exist". */
	fate?: string | undefined;
	/** What the user should do. */
	advice: string;
	/** Everything that the service says. */
	reason?: string | undefined;
	/** Any other known facts. */
	detail?: string | undefined;
	/** The reason why the item was not run again. */
	note?: string | undefined;
	/** The known facts about the other items and their jobs. */
	lists?: string[];
}

/** Returns the title of an error as plain text. */
export function titleOf({ message, words, fate }: Texts): string {
	const title = words === undefined ? message : `${message}: ${words}`;
	return fate === undefined ? title : `${title.replace(/\.$/, '')}; ${fate}`;
}

/** Returns the description of an error as plain text: first the advice, then the known facts, each on its own line. */
export function descriptionOf({ advice, reason, detail, note, lists = [] }: Texts): string {
	const lines = [advice, reason, sentences([detail, note])].filter(Boolean);
	return [lines.join('\n'), ...lists].join('\n\n');
}

/** Joins the sentences that are given into one line. */
export const sentences = (texts: Array<string | undefined | false>) =>
	texts.filter(Boolean).join(' ');

/**
 * Returns a text in a form that n8n can show anywhere. n8n's editor interprets HTML and backticks, so look-alike
 * characters replace what would be markup. JSON that a workflow reads contains the original text.
 */
export function asPlainText(text: string): string {
	return text
		.replaceAll('<', '‹')
		.replaceAll('>', '›')
		.replaceAll('`', 'ˋ')
		.replace(/&(?=#?\w+;)/g, '＆');
}

/**
 * Returns a title in a form that n8n can show. n8n takes an error with "canceled" in its title for a cancel, so an
 * invisible character splits that word.
 */
export const asTitle = (text: string) => asPlainText(text).replaceAll('canceled', 'cancele\u2060d');

/** The maximum number of characters of an ID or an address in a title. A whole UUID fits. */
const MAX_IN_TITLE = 36;

/** Returns a text for a title, cut off if it is too long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	// Only the beginning of the text is split into characters, because the text may be very long.
	const characters = [...text.slice(0, 2 * max + 1)];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** The properties by which people look for a job. */
export interface NamedJob {
	namespace: string;
	displayName: string;
}

/**
 * The maximum number of characters of a name. Without a limit, an error about 400 jobs with names of 20 kB would have
 * millions of characters.
 */
const MAX_NAME = 100;

/** Returns a name or an ID as a sentence shows it, cut off if it is too long. */
export const shorten = (name: string) => truncate(name, MAX_NAME);

/** Returns a job with its names as errors, hints and logs show them, cut off if they are too long. */
export function withShortNames<Job extends NamedJob>(job: Job): Job {
	return { ...job, namespace: shorten(job.namespace), displayName: shorten(job.displayName) };
}

/** Returns the name of a job for a sentence: "'Report' in namespace 'default'". */
export function nameOf(job: NamedJob): string {
	const { displayName, namespace } = withShortNames(job);
	return `'${displayName}' in namespace '${namespace}'`;
}

/** Returns the name of an execution and its node, as logs show it. */
export function nameOfExecution(context: IExecuteFunctions): string {
	return `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
}

/** The note that follows the numbers of items in a title or a hint, because users count rows from 1. */
export const FROM_ZERO = '(counted from 0)';

/** The maximum number of item numbers and ranges in a list. More would not fit into one sentence. */
const MAX_NAMED = 10;

/**
 * Returns a list of items by their numbers, counted from 0, in order: "item 4", "items 4 and 14", "items 2, 24 to 99
 * and 20 more".
 */
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
