import type { Consequence } from '../retry/facts';

/** What an error says. */
export interface ErrorTexts {
	/** What happened, in about 80 characters at most. */
	message: string;
	/** What to do. */
	advice: string;
	/** The service's own words. */
	reason?: string | undefined;
	/** What else is known. */
	detail?: string | undefined;
}

/** All that a failure means: what follows from it, and what its error says. */
export type Meaning = Consequence & ErrorTexts;

/** What a request was for, as far as its error says so. */
export interface About {
	/** The address of the service, as the credential has it. */
	baseUrl?: string;
	/** Of one request, in milliseconds. */
	timeout?: number;
	/** What the request was to do, as in "The service refused to ...". */
	action?: string;
	/** What a user who is refused may have mixed up. */
	hint?: string;
	/** The call's own words for a status. */
	byStatus?: Partial<Record<number, Partial<ErrorTexts>>>;
}

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** A text for a title, cut if it is long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	// No more than the beginning is split into characters.
	const characters = [...text.slice(0, 2 * max + 1)];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** The settings that name a proxy. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

/** A job by what people look for it. */
export interface NamedJob {
	namespace: string;
	displayName: string;
}

/** Characters of a name at most. With all, an error of 400 jobs with names of 20 kB would have millions. */
const MAX_NAME = 100;

/** A job with its names as errors, hints and logs show them: cut if they are long. */
export function withShortNames<Job extends NamedJob>(job: Job): Job {
	return { ...job, namespace: shorten(job.namespace), displayName: shorten(job.displayName) };
}

/** A name or an ID as a sentence shows it, cut if it is long. */
export const shorten = (name: string) => truncate(name, MAX_NAME);

/** "'Report' in namespace 'default'" */
export function nameOf(job: NamedJob): string {
	const { displayName, namespace } = withShortNames(job);
	return `'${displayName}' in namespace '${namespace}'`;
}
