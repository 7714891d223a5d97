import type { Texts } from '../../texts';
import type { Consequence } from '../retry/facts';
import { consequenceOf, RETRY } from '../retry/policy';
import {
	type About,
	type Answer,
	type Meaning,
	TEXTS_OF_ANY_REQUEST,
	TEXTS_OF_CALL,
	TEXTS_OF_LOGIN,
	type StatusFacts,
	type StatusTexts,
} from './statuses';

/** Returns what a failure of the kind `status` means: its consequence and the texts of its error. */
export function meaningOfStatus(facts: StatusFacts & { ofLogin?: true }, about: About): Meaning {
	const { status, words, ofLogin = false } = facts;
	const { baseUrl = '', action = '', hint = '', byStatus = {} } = about;
	const doing = ofLogin
		? { action: 'log the user in', what: 'the login' }
		: { action, what: `to ${action}` };
	const answer: Answer = { ...facts, ...doing, baseUrl, hint, ofLogin };
	const consequence = consequenceOf(facts, ofLogin);
	const isThrottled = consequence.condition === 'throttled';
	const own: StatusTexts = {
		...TEXTS_OF_ANY_REQUEST[status]?.(answer),
		...(ofLogin ? {} : byStatus[status]?.(answer)),
		...(ofLogin ? TEXTS_OF_LOGIN : TEXTS_OF_CALL)[status]?.(answer),
		...(isOfProxy(answer) && nothingThere(answer)),
		...(isThrottled && status < 500 && status !== 429 && refusedForNow(answer)),
		...(isThrottled && waitsFor(consequence)),
	};
	return {
		...consequence,
		...(status >= 500 ? failed : refused)(answer),
		...(own.message === undefined ? { words, isIntroduction: words !== undefined } : {}),
		...own,
		...saidBy(answer),
	};
}

const failed = ({ action, words, bodyType, ofLogin }: Answer) => ({
	message: `The service failed to ${action}`,
	advice:
		ofLogin && words !== undefined && bodyType !== 'page'
			? "Check 'Username' and 'Password' in the credential. If they are right, tell the administrator of the service."
			: "The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
});

/** The status codes by which a service says that a field of the request is wrong, as HTTP defines them (RFC 9110). */
const OF_WRONG_VALUES = [400, 404, 409, 413, 422];

function refused(answer: Answer): StatusTexts & Texts {
	const { what, words, bodyType, ofLogin } = answer;
	const network =
		'the administrator of the network whether a firewall or a proxy blocks n8n (User-Agent: n8n).';
	const own = adviceOf(answer);
	if (bodyType !== 'page') return { message: `The service refused ${what}`, ...own };
	if (words === undefined) {
		return {
			message: `Something before the service refused ${what}`,
			advice: `Check the 'Base URL' in the credential, and ask ${network}`,
		};
	}
	return {
		message: `The service or something before it refused ${what}`,
		advice:
			ofLogin || own.isWrongValue
				? `${own.advice} If the page isn't the service's own, ask ${network}`
				: `Ask the administrator of the service what this means, or ${network}`,
		isWrongValue: own.isWrongValue,
	};
}

/** Returns the advice for a request that the service itself refused. */
function adviceOf({ status, words = '', hint, ofLogin }: Answer) {
	if (ofLogin) {
		const advice =
			"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once.";
		return { advice, isWrongValue: false };
	}
	if (!OF_WRONG_VALUES.includes(status) && status >= 300) {
		const advice = `Ask the administrator of the service what HTTP ${status} means there. If no request has worked yet, check the 'Base URL' in the credential.`;
		return { advice, isWrongValue: false };
	}
	// The hint would mislead a user whose request was refused for another reason. Services word such a reason freely, but
	// a word for the cluster is in it.
	const more = /cluster/i.test(words) ? ` ${hint}`.trimEnd() : '';
	return { advice: `Check this node's fields.${more}`, isWrongValue: true };
}

/**
 * Decides whether a 404 probably comes from a proxy, and not from the service: it has a body that is not JSON.
 */
const isOfProxy = ({ status, bodyType, text, ofLogin }: Answer) =>
	status === 404 &&
	!ofLogin &&
	(bodyType === 'page' || (bodyType === 'text' && text !== undefined));

const nothingThere = ({ words }: Answer): StatusTexts => ({
	message: 'What stands before the service knows nothing at this address',
	words,
	advice:
		"Try again later: the service may be starting. If that doesn't help, check the 'Base URL' in the credential, and ask the administrator of the service.",
	isWrongValue: false,
});

/** Returns the texts for a request that the service did not act on, and that can be sent again later. */
const refusedForNow = ({ what, words }: Answer): StatusTexts => ({
	message: `The service refused ${what} for now`,
	words,
	advice: "Try again later. If that doesn't help, ask the administrator of the service.",
	isWrongValue: false,
});

/** Returns the advice for a Retry-After that is so long that the user should know of it. */
function waitsFor({ retryAfterMs = 0 }: Consequence): Partial<Texts> {
	if (retryAfterMs <= RETRY.sharedMs) return {};
	const seconds = Math.ceil(retryAfterMs / 1_000);
	const time = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
	return { advice: `Try again in ${time}: the service asks to wait that long.` };
}

function saidBy(answer: Answer): Pick<Texts, 'reason' | 'detail'> {
	const { status, words, text, withheld, bodyType, baseUrl, ofLogin } = answer;
	const http = ofLogin ? '' : ` (HTTP ${status})`;
	const hasWords = words !== undefined;
	const isPage = bodyType === 'page';
	const mayBeByProxy =
		isOfProxy(answer) || (ofLogin && status === 404 && bodyType === 'text' && hasWords);
	const who = isPage ? 'An HTML page' : mayBeByProxy ? 'The answer' : 'The service';
	const nothing = withheld ?? (isPage ? 'An HTML page came' : 'The service gave no reason');
	const likely = isPage && hasWords && !mayBeByProxy ? 'perhaps' : 'probably';
	const details = [
		!hasWords && `${nothing}${http}.`,
		!hasWords && text !== undefined && `It sent ${text}.`,
		// A 500 comes from the service itself, even if its body is a web page.
		(mayBeByProxy || (isPage && status !== 500)) &&
			`A firewall, a proxy or a login page before the service has ${likely} answered.`,
		ofLogin && `The login at ${baseUrl} was answered with HTTP ${status}.`,
	];
	return {
		reason: hasWords ? `${who} says: ${text}${http}.` : undefined,
		detail: details.filter(Boolean).join(' '),
	};
}
