import type { IExecuteFunctions } from 'n8n-workflow';

/*
 * The parts of errors, hints and logs that several of them share.
 */

/** The maximum lengths of what users read: the characters of a text, or the entries of a list. */
export const MAX = {
	/** An ID or an address in a title. A whole UUID fits. */
	idInTitle: 36,
	/** A wrong value in a title. */
	valueInTitle: 40,
	/** A namespace in a title that has an ID, too. */
	namespaceInTitle: 18,
	/** The service's words in a title. */
	wordsInTitle: 80,
	/** A request with its address. A namespace and an ID of usual length fit. */
	address: 300,
	/** What the service says. */
	said: 500,
	/** What n8n says. */
	saidByN8n: 200,
	/** The name of a job. Without a limit, 100 names of 20 kB would make an error of 2 MB. */
	name: 100,
	/** The numbers and ranges of items in a sentence. */
	items: 10,
	/** The jobs in a text. The context of an error has all of them. */
	jobs: 100,
	/** The jobs in a line of the log. A longer line would be cut off where logs are collected. */
	jobsInLog: 50,
	/** The warnings above the output. More would push the output off the screen. */
	hints: 5,
	/** The pairs of type and phase in a hint. A hint with more could not be read at a glance. */
	kindsOfClusters: 10,
};

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

/** Returns a text, cut off if it is too long. */
export function truncate(text: string, max = MAX.idInTitle): string {
	// Only the beginning of the text is split into characters, because the text may be very long.
	const characters = [...text.slice(0, 2 * max + 1)];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Returns those of the texts that aren't left out by a condition. */
export const present = (texts: Array<string | undefined | false>) =>
	texts.filter((text) => typeof text === 'string' && text !== '') as string[];

/** The properties by which people look for a job. */
export interface NamedJob {
	namespace: string;
	displayName: string;
}

export interface CreatedJob extends NamedJob {
	uid: string;
	/** The ID as sentences show it: withheld if it contains a secret, because the service could repeat one in the ID. */
	shownUid: string;
}

/** Returns the name of a job for a sentence, on one line: "'Report' in namespace 'default'". */
export const nameOf = ({ displayName, namespace }: NamedJob) =>
	`'${truncate(displayName, MAX.name)}' in namespace '${truncate(namespace, MAX.name)}'`.replace(
		/[\s\p{Cc}]+/gu,
		' ',
	);

/** Returns the name of an execution and its node, as logs show it. */
export function nameOfExecution(context: IExecuteFunctions): string {
	return `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
}
