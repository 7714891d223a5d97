import type { Failure, FailureOf, RequestFailure } from '../request/failure';
import { rootCauseOf } from '../request/failure';
import { ruleKeyOf } from '../request/retryPolicy';
import type { Words } from './rules';
import { RULES } from './rules';

/** What an error says. Its texts are in the order in which they are shown. */
export interface ErrorMessage extends Words {
	/** The service's own words. */
	reason?: string;
}

/** What a request was for, as far as its error says so. */
export interface About {
	/** The address of the service, as the credential has it. */
	baseUrl: string;
	/** Of one request, in milliseconds. */
	timeout: number;
	/** What the request was to do, as in "The service refused to ...". */
	action: string;
}

/** Milliseconds that a login may take. A node with a shorter Timeout doesn't wait as long. */
export const LOGIN_TIMEOUT = 60_000;

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** What is said of a login that failed. What isn't here is the same for any request. */
const LOGIN_WORDS: Partial<Record<string, Words>> = {
	timeout: {
		message: "The service didn't answer the log-in within {limit}",
		advice: 'Try again later.',
	},
	ownTimeout: {
		message: "The service didn't answer the log-in within {limit}",
		advice: "Try again later, or allow more time with the option 'Timeout'.",
	},
	broken: {
		message: 'The connection broke during the log-in',
		advice:
			"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
		detail: RULES.broken.detail,
	},
	unexpectedResponse: {
		...RULES.unexpectedResponse,
		message: 'The service answered the log-in with {came} instead of {expected}',
	},
	'status 401': {
		message: 'The user name or the password is wrong',
		advice:
			"Correct it in the credential. The log-in was tried only once, so that the account isn't locked.",
	},
	'status 403': {
		message: 'The service refused this user',
		advice:
			"Check 'User Name' and 'Password' in the credential, and whether the user is blocked. The log-in was tried only once.",
	},
	noLogin: {
		message: 'There is no log-in at {baseUrl}/oauth/login',
		advice:
			"Check the 'Base URL' in the credential: it is the part of the address before /oauth/login.",
	},
	'status 429': {
		message: 'The service is receiving too many log-ins',
		advice: 'Try again later.',
	},
	refusal: {
		message: 'The service refused the log-in',
		advice: "Check 'User Name', 'Password' and 'Base URL' in the credential.",
	},
	serverError: {
		message: "The service can't log anyone in at the moment",
		advice: "Try again later. If that doesn't help, tell whoever runs the service.",
	},
};

const BASE_URL_PROBLEMS: Record<FailureOf<'baseUrl'>['problem'], string> = {
	empty: 'is empty: enter the address of the service',
	notAnAddress: 'must be an address such as https://jobs.example.com',
	otherScheme: 'must start with https:// or http://',
	holdsUser: 'must not contain a user name or a password',
	holdsQuery: 'must not contain ? or #: remove it and what follows',
};

/** The title, the advice and the details of a failure. Facts that a failure doesn't need may be left out. */
export function explain(failure: Failure, about: Partial<About> = {}): ErrorMessage {
	const { message, advice, detail } = wordsFor(failure, about.baseUrl);
	const facts = factsOf(failure, about);
	return {
		message: fill(message, facts, MAX_IN_TITLE),
		advice: fill(advice, facts),
		...(detail === undefined ? {} : { detail: fill(detail, facts) }),
		...statusTexts(rootCauseOf(failure)),
	};
}

/** @param timeout of one request, in milliseconds */
export function explainConnection(
	failure: Failure,
	baseUrl: string,
	timeout: number,
): ErrorMessage {
	return explain(failure, { baseUrl, timeout });
}

/** What a failed login says: in the credential's test, and in every node that uses the credential. */
export function explainLogin(cause: RequestFailure, baseUrl: string): ErrorMessage {
	return explain({ kind: 'login', cause }, { baseUrl });
}

function wordsFor(failure: Failure, baseUrl = ''): Words {
	const cause = rootCauseOf(failure);
	const key = ruleKeyOf(failure);
	const own = failure.kind === 'login' ? LOGIN_WORDS[loginKeyOf(failure)] : undefined;
	if (own !== undefined) return own;
	if (cause.kind !== 'unreachable') return RULES[key];
	const { address, code } = cause;
	if (address !== undefined && !isAddressOf(baseUrl, address)) return RULES.unreachableProxy;
	return isUnknownHost(code) ? RULES.unknownHost : RULES.unreachable;
}

function loginKeyOf({ cause }: FailureOf<'login'>): string {
	if (cause.kind === 'timeout' && cause.after !== undefined) return 'ownTimeout';
	if (cause.kind !== 'status') return ruleKeyOf(cause);
	const { status } = cause;
	if (status === 404 || status === 405) return 'noLogin';
	if (LOGIN_WORDS[`status ${status}`] !== undefined) return `status ${status}`;
	return status < 500 ? 'refusal' : 'serverError';
}

/** What the service said with a status. */
function statusTexts(cause: Failure): Pick<ErrorMessage, 'reason' | 'detail'> {
	if (cause.kind !== 'status') return {};
	const { status, text, ofOthers } = cause;
	if (ofOthers === true)
		return { detail: `The service answered other requests so (HTTP ${status}).` };
	return text === undefined
		? { detail: `The service gave no reason (HTTP ${status}).` }
		: { reason: `${text} (HTTP ${status}).` };
}

/** What the placeholders of a rule stand for, by name. */
type Facts = Record<string, unknown>;

function factsOf(
	failure: Failure,
	{ baseUrl = '', timeout = 0, action = '' }: Partial<About>,
): Facts {
	const cause = rootCauseOf(failure);
	const facts: Facts = { ...cause, baseUrl, action };
	const limit = failure.kind === 'login' ? LOGIN_TIMEOUT : timeout;
	facts.limit = inSeconds('after' in cause ? (cause.after ?? limit) : limit);
	if (cause.kind === 'baseUrl') facts.problem = BASE_URL_PROBLEMS[cause.problem];
	if (cause.kind === 'unreachable') facts.why = whyUnreachable(cause);
	if (cause.kind === 'unexpectedResponse') {
		// Titles are without the service's texts and field names.
		facts.came = /"|with the fields/.test(cause.received) ? 'other data' : cause.received;
	}
	return facts;
}

/** @param maxAddress characters of an address at most */
function fill(template: string, facts: Facts, maxAddress = Infinity): string {
	return template.replace(/\{(\w+)\}/g, (_, name: string) => {
		const isAddress = ['baseUrl', 'address', 'location'].includes(name);
		return truncate(String(facts[name]), isAddress ? maxAddress : Infinity);
	});
}

/** A text, cut if it is longer than a title may have it. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	const characters = [...text];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

function inSeconds(milliseconds: number): string {
	return milliseconds < 100
		? `${milliseconds} ms`
		: `${Number((milliseconds / 1000).toFixed(1))} s`;
}

function whyUnreachable({ code, address }: FailureOf<'unreachable'>): string {
	if (isUnknownHost(code)) return `No host named ${address ?? 'like this'} was found (${code}).`;
	if (code === 'ECONNREFUSED') return `${address ?? 'The host'} refused the connection (${code}).`;
	return `No connection${address === undefined ? '' : ` to ${address}`} was possible (${code}).`;
}

/**
 * Whether an address that can't be reached is that of a Base URL: else it is a proxy's. A name that wasn't found
 * has no port. Of a connection only the port can be compared, as the host has become an IP address.
 */
function isAddressOf(baseUrl: string, address: string): boolean {
	const { hostname, port, protocol } = new URL(baseUrl);
	const ownPort = port || (protocol === 'https:' ? '443' : '80');
	const theirPort = /:(\d+)$/.exec(address)?.[1];
	return theirPort === undefined ? address === hostname : theirPort === ownPort;
}

/** How Node.js names what a name look-up reports. */
const isUnknownHost = (code: string) => code === 'ENOTFOUND' || code === 'EAI_AGAIN';
