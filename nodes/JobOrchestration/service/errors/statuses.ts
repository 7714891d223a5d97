import type { Consequence, Refusal } from '../retry/facts';
import { consequenceOf, RETRY } from '../retry/policy';
import { type About, type ErrorTexts, type Meaning, PROXIES, truncate } from './meaning';
import { isStatusName, type Said } from './words';

/** A status that isn't success, or a body that says that the request failed. */
export interface StatusFacts extends Said, Refusal {
	/** Why there are no words. */
	note?: string | undefined;
	/** Set for a 404 of what stands before the service, which is away: a health check got one, too. */
	isOutage?: true;
}

/** What an entry is made from, with the ends of sentences: "refused to stop the job: it has ended". */
type Answer = StatusFacts &
	Record<'baseUrl' | 'hint' | 'action' | 'what' | 'said', string> & { ofLogin: boolean };

/** What is said of a status where that differs from its range. */
type Entries = Partial<Record<number, (answer: Answer) => Partial<ErrorTexts>>>;

/** Where in the request something is wrong: in a title, it would leave no room for what is wrong. */
const JSON_PATH = /^[\w$]+(?:[/.][\w$]+)+:? (?=\S)/;

/** Texts that a web page isn't given: what stands before the service has answered with it. */
const unlessPage = ({ form }: Answer, texts: Partial<ErrorTexts>) => (form === 'page' ? {} : texts);

const OF_ANY_REQUEST: Entries = {
	407: () => ({
		message: 'The proxy before the service wants a login',
		advice: `Add the user and the password of the proxy to its address (${PROXIES}), as in http://user:password@proxy:8080.`,
	}),
	408: () => ({
		message: 'The service gave up waiting for the request',
		advice: 'Try again later.',
	}),
	413: () => ({
		message: 'What was sent is too large for the service',
		advice:
			"Make this node's fields shorter, or ask the administrator to raise the limit of the service, or of the proxy before it.",
	}),
	429: () => ({
		message: 'The service is receiving too many requests',
		advice:
			"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
	}),
};

/** Where another login doesn't help. */
export const rejectedToken = ({ action = '' }: About) => ({
	message: 'The service rejected the token that it had just issued',
	advice: `The login works, but its token doesn't. Check that the user is allowed to ${action}, that the clocks of the service's machines agree, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
});

const OF_CALL: Entries = {
	401: (answer) => unlessPage(answer, rejectedToken(answer)),
	403: (answer) =>
		unlessPage(answer, {
			message: `The user isn't allowed to ${answer.action}`,
			advice:
				'Ask the administrator of the service for the permission, or use the credential of another user.',
		}),
};

/** Whether a login is refused in words: more than the status's name, and not only the path that isn't there. */
const isInWords = ({ words = '', text = '' }: Answer) =>
	words !== '' && !isStatusName(words) && !text.includes('oauth/login');

const noEndpoint = (answer: Answer): Partial<ErrorTexts> => {
	const { baseUrl, form } = answer;
	// A web server answers with a page or a text where nothing is.
	if (form === 'json' && isInWords(answer)) return {};
	const [part] = /\/(?:api(?:\/v1)?|oauth(?:\/login)?)$/.exec(baseUrl) ?? [];
	return {
		message: `No login endpoint at ${truncate(baseUrl)}/oauth/login`,
		advice: `${part === undefined ? '' : `Remove ${part}. `}Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1.`,
	};
};

const WRONG = 'The username or the password is wrong';

const OF_LOGIN: Entries = {
	401: (answer) =>
		isInWords(answer) && answer.words !== WRONG
			? {}
			: unlessPage(answer, {
					message: WRONG,
					advice:
						"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
				}),
	404: noEndpoint,
	405: noEndpoint,
};

/** What an answer with this status means: its range; then its own entry, the call's words, and a request to wait. */
export function meaningOfStatus(facts: StatusFacts & { ofLogin?: true }, about: About): Meaning {
	const { status, words, ofLogin = false, isOutage } = facts;
	const { baseUrl = '', action = '', hint = '', byStatus = {} } = about;
	const said = words === undefined ? '' : `: ${words.replace(JSON_PATH, '')}`;
	const doing = ofLogin
		? { action: 'log the user in', what: 'the login' }
		: { action, what: `to ${action}` };
	const answer = { ...facts, ...doing, baseUrl, hint, said, ofLogin };
	const consequence = consequenceOf(facts, ofLogin);
	const isThrottled = consequence.condition === 'throttled';
	const isForNow = isThrottled && status < 500 && status !== 429;
	return {
		...consequence,
		...(status >= 500 ? failed : refused)(answer),
		...OF_ANY_REQUEST[status]?.(answer),
		...(ofLogin ? OF_LOGIN : OF_CALL)[status]?.(answer),
		...(ofLogin ? {} : byStatus[status]),
		...(isForNow && refusedForNow(answer)),
		...(isThrottled && waitsFor(consequence)),
		...(isOutage === true && away(answer)),
		...saidBy(answer),
	};
}

const failed = ({ action, said, ofLogin }: Answer) => ({
	message: `The service failed to ${action}${said}`,
	advice:
		ofLogin && said !== ''
			? "Check 'Username' and 'Password' in the credential. If they are right, tell the administrator of the service."
			: "The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
});

const refused = ({ what, said, words = '', form, hint, ofLogin }: Answer) => ({
	message:
		form === 'page'
			? `Something before the service refused ${what}`
			: `The service refused ${what}${said}`,
	advice:
		form === 'page'
			? "Check the 'Base URL' in the credential, and ask the administrator of the network whether a firewall or a proxy blocks n8n (User-Agent: n8n)."
			: ofLogin
				? "Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once."
				: `Check this node's fields.${/cluster/i.test(words) ? ` ${hint}`.trimEnd() : ''}`,
});

/** Nothing was done, and it is to be asked for later. */
const refusedForNow = ({ what, said }: Answer) => ({
	message: `The service refused ${what} for now${said}`,
	advice: "Try again later. If that doesn't help, ask the administrator of the service.",
});

/** What to do if the service asks for a wait that the user should know of. */
function waitsFor({ retryAfterMs = 0 }: Consequence) {
	if (retryAfterMs <= RETRY.sharedMs) return {};
	const seconds = Math.ceil(retryAfterMs / 1_000);
	const time = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
	return { advice: `Try again in ${time}: the service asks to wait that long.` };
}

/** The service is restarted or rolled out, and nothing was sent to it. */
const away = ({ baseUrl }: Answer): Meaning => ({
	...{ condition: 'unreachable', mayHaveActed: false, notFoundBy: undefined },
	isAboutAllItems: true,
	message: `The service at ${truncate(baseUrl)} is away`,
	advice:
		'Try again later. What stands before the service answers in its place, as it does while the service is being restarted or rolled out.',
});

function saidBy({ status, words, text, note, form, baseUrl, ofLogin }: Answer) {
	const http = ofLogin ? '' : ` (HTTP ${status})`;
	const hasWords = words !== undefined;
	const details = [
		!hasWords && `${note ?? 'The service gave no reason'}${http}.`,
		!hasWords && text !== undefined && `It sent ${text}.`,
		// A 500 comes from the service itself, as a page, too.
		form === 'page' &&
			status !== 500 &&
			'A firewall, a proxy or a login page before the service has probably answered.',
		ofLogin && `The login at ${baseUrl} was answered with HTTP ${status}.`,
	];
	return {
		reason: hasWords ? `The service says: ${text}${http}.` : undefined,
		detail: details.filter(Boolean).join(' '),
	};
}
