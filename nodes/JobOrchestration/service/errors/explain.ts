import type { Failure, FailureOf } from './failure';
import { rootCauseOf } from './failure';
import { ruleKeyOf } from './retryPolicy';
import { LOGIN_TEXTS, RULES } from './rules';

/** What happened, in about 80 characters at most, and what to do. */
export interface Explanation {
	message: string;
	advice: string;
}

/** What an error says. */
export interface ErrorMessage extends Explanation {
	/** The service's own words. */
	reason?: string | undefined;
	/** What else is known. */
	detail?: string | undefined;
}

/** What a request was for, as far as its error says so. */
interface About {
	/** The address of the service, as the credential has it. */
	baseUrl?: string;
	/** Of one request, in milliseconds. */
	timeout?: number;
	/** What the request was to do, as in "The service refused to ...". */
	action?: string;
	/** What a user who is refused may have mixed up. */
	hint?: string | undefined;
}

/** What the `{name}`s in a rule's texts stand for. */
type Facts = Record<string, unknown>;

/** Milliseconds that a login may take. A node with a shorter Timeout doesn't wait as long. */
export const LOGIN_TIMEOUT = 60_000;

/** Characters of the service's message in a title at most: the description has all of it. */
const MAX_REASON = 80;

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

const BASE_URL_PROBLEMS: Record<FailureOf<'baseUrl'>['problem'], string> = {
	empty: 'is empty: enter the address of the service',
	notAnAddress: 'must be an address such as https://jobs.example.com',
	otherScheme: 'must start with https:// or http://',
	holdsUser: 'must not contain a user name or a password',
	holdsQuery: 'must not contain ? or #: remove it and what follows',
};

/** What an error with this failure says. */
export function explain(failure: Failure, about: About = {}): ErrorMessage {
	const key = ruleKeyOf(failure);
	const [, ...textsOfAll] = RULES[key];
	const texts = (failure.kind === 'login' && LOGIN_TEXTS[key]) || textsOfAll;
	const [message, advice, detail = ''] = texts;
	const facts = factsOf(failure, about);
	return {
		message: fill(message, facts, MAX_IN_TITLE),
		advice: fill(advice, facts),
		detail: fill(detail, facts),
		...serviceTextsOf(failure, about),
	};
}

/** What the service said with a status. About a refused login, it may say which part is wrong: that isn't shown. */
function serviceTextsOf(
	failure: Failure,
	{ baseUrl = '' }: About,
): Pick<ErrorMessage, 'reason' | 'detail'> {
	const cause = rootCauseOf(failure);
	if (cause.kind !== 'status') return {};
	const { status, text, note = 'The service gave no reason' } = cause;
	if (failure.kind === 'login' && status < 500) {
		return { detail: `The login at ${baseUrl} was answered with HTTP ${status}.` };
	}
	if (text === undefined) return { detail: `${note} (HTTP ${status}).` };
	return { reason: `The service says: "${text}" (HTTP ${status}).` };
}

function factsOf(
	failure: Failure,
	{ baseUrl = '', timeout = 0, action = '', hint = '' }: About,
): Facts {
	const cause = rootCauseOf(failure);
	const isLogin = failure.kind === 'login';
	const after = 'after' in cause ? cause.after : undefined;
	const facts: Facts = { ...cause, baseUrl, action: isLogin ? 'log the user in' : action };
	facts.hint = hint === '' ? '' : ` ${hint}`;
	facts.limit = inSeconds(after ?? (isLogin ? LOGIN_TIMEOUT : timeout));
	// The service's words stay out of what the test of a credential shows.
	const reason = failure.kind === 'status' ? failure.text : undefined;
	facts.serviceReason = reason === undefined ? '' : `: ${truncate(reason, MAX_REASON)}`;
	if (cause.kind === 'baseUrl') facts.problem = BASE_URL_PROBLEMS[cause.problem];
	if (cause.kind === 'unexpectedResponse') {
		facts.came = cause.received.replace(/ (?:with the fields|").*/s, '');
	}
	return facts;
}

/** @param maxAddress characters of an address at most */
function fill(text: string, facts: Facts, maxAddress = Infinity): string {
	return text.replace(/\{(\w+)\}/g, (_, name: string) => {
		const isAddress = ['baseUrl', 'address', 'location'].includes(name);
		return truncate(String(facts[name]), isAddress ? maxAddress : Infinity);
	});
}

/** A text for a title, cut if it is long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	const characters = [...text];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

function inSeconds(milliseconds: number): string {
	return milliseconds < 100
		? `${milliseconds} ms`
		: `${Number((milliseconds / 1000).toFixed(1))} s`;
}
