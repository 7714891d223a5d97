import type { Failure } from '../failure';

/** A failure in words. */
export interface Words {
	/** The title: what happened. */
	message: string;
	/** What there is to know of it: the service's own words, the status, the system's code. */
	detail: string;
	/** What to do. */
	advice: string;
}

/** A failure that is an HTTP status. */
export type StatusFailure = Extract<Failure, { kind: 'status' }>;

/** Words for a status: the detail is what the service said of it. */
export function wordsOf(failure: StatusFailure, message: string, advice: string): Words {
	const detail =
		failure.text === undefined
			? `HTTP ${failure.status}, without a reason.`
			: `The service says: "${failure.text}" (HTTP ${failure.status}).`;
	return { message, detail, advice };
}

/** The same where the service's own words say what is wrong: they belong in the title, if they fit. */
export function wordsWithReason(failure: StatusFailure, message: string, advice: string): Words {
	const { text } = failure;
	// n8n takes a title for HTML: of what looks like markup, part would not be seen.
	const fits = text !== undefined && text.length <= 150 && !text.includes('<');
	const title = fits ? `${message}: ${text}` : message;
	return wordsOf(failure, title, advice);
}
