import type { FailureOf } from '../request/failure';

/** What happened, and what to do. */
export interface Explanation {
	/** The title, in about 80 characters at most. */
	message: string;
	advice: string;
}

/** What an error says. */
export interface ErrorMessage extends Explanation {
	/** What the service itself says of it. */
	reason?: string;
	/** What else there is to know, such as the system's code. */
	detail?: string;
}

/** What an error says about a status: with what the service said of it, if it did. */
export function statusMessage(
	{ status, text, ofOthers }: FailureOf<'status'>,
	explanation: Explanation,
): ErrorMessage {
	if (ofOthers === true) {
		return { ...explanation, detail: `The service answered other requests so (HTTP ${status}).` };
	}
	return text === undefined
		? { ...explanation, detail: `The service gave no reason (HTTP ${status}).` }
		: { ...explanation, reason: `${text} (HTTP ${status}).` };
}

/**
 * What an error says about an answer that isn't what was asked for.
 *
 * @param answered how it came, as in "answered the log-in"
 */
export function unexpectedMessage(
	{ status, received, expected }: FailureOf<'unexpectedResponse'>,
	answered = 'answered',
): ErrorMessage {
	if (status === null) {
		return {
			message: "n8n's request helper returned no HTTP response",
			advice: 'Try again later.',
			detail: `It returned ${received}.`,
		};
	}
	return {
		message: `The service ${answered} with ${titleOf(received)} instead of ${expected}`,
		advice:
			"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or log-in page answers in its place.",
		detail: `It sent ${received} (HTTP ${status}).`,
	};
}

/** What was received instead, for a title: without the service's texts and field names. */
function titleOf(received: string): string {
	return /"|with the fields/.test(received) ? 'other data' : received;
}

/** The most characters of an ID or an address in a title: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** A text for a title, cut if it is long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	const characters = [...text];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** A time as a person says it. */
export function inSeconds(milliseconds: number): string {
	return milliseconds < 100
		? `${milliseconds} ms`
		: `${Number((milliseconds / 1000).toFixed(1))} s`;
}

/**
 * All in the title, where nothing else is shown: in the test of a credential. The service's own words stay out, and
 * so do the system's codes: n8n puts a sentence of its own in place of a title that holds one it knows.
 */
export function asTitleOnly({ message, advice, detail = '', ...rest }: ErrorMessage): ErrorMessage {
	const more = [advice, detail.replace(/ \(E[A-Z_]+\)/g, '')]
		.filter((text) => text !== '')
		.join(' ');
	return { ...rest, message: more === '' ? message : `${message}. ${more}`, advice: '' };
}

/**
 * A text that n8n can show anywhere. Its editor takes titles and descriptions for HTML, and backticks in them for
 * code; an agent, a log and an MCP client take them for text. So what would be markup is replaced by look-alikes.
 */
export function asPlainText(text: string): string {
	return text
		.replaceAll('<', '‹')
		.replaceAll('>', '›')
		.replaceAll('`', 'ˋ')
		.replace(/&(?=#?\w+;)/g, '＆');
}

/**
 * A description as the editor's panel shows it with its line breaks. n8n's editor prefers a `descriptionTemplate`
 * in an error's context to the description, which everything else reads.
 */
export function forPanel(description: string): { descriptionTemplate: string } {
	return { descriptionTemplate: description.replaceAll('\n', '<br>') };
}
