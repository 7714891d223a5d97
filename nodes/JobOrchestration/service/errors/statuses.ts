import type { About, Consequence, Meaning } from './meaning';
import { ANSWERED, FAILED, PROXIES, THROTTLED, truncate, UNAVAILABLE, UNCLEAR } from './meaning';
import { isStatusName, type Said } from './words';

/** A status that isn't success, or a body that says that the request failed. */
export interface StatusFacts extends Said {
	status: number;
	/** Why there are no words. */
	note?: string | undefined;
	form?: 'page' | 'text' | 'json';
	retryAfterMs?: number | undefined;
}

/** What an entry is made from, with the ends of sentences: "refused to stop the job: it has ended". */
type Answer = StatusFacts &
	Record<'baseUrl' | 'hint' | 'action' | 'what' | 'said', string> & { ofLogin: boolean };

/** What differs from the range of the status, consequence and words side by side. */
type Entries = Partial<Record<number, (answer: Answer) => Partial<Meaning>>>;

/** Where in the request something is wrong: in a title, it would leave no room for what is wrong. */
const JSON_PATH = /^[\w$]+(?:[/.][\w$]+)+:? (?=\S)/;

/** Texts that a web page isn't given: what stands before the service has answered with it. */
const unlessPage = ({ form }: Answer, texts: Partial<Meaning>) => (form === 'page' ? {} : texts);

const rejectedToken = (answer: Answer): Partial<Meaning> => ({
	...{ ...ANSWERED, token: 'rejected' },
	...unlessPage(answer, {
		message: 'The service rejected the token that it had just issued',
		advice: `The login works, but its token doesn't. Check that the user is allowed to ${answer.action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
	}),
});

const OF_ANY_REQUEST: Entries = {
	407: () => ({
		message: 'The proxy before the service wants a login',
		advice: `Add the user and the password of the proxy to its address (${PROXIES}), as in http://user:password@proxy:8080.`,
	}),
	408: () => ({
		...FAILED,
		message: 'The service gave up waiting for the request',
		advice: 'Try again later.',
	}),
	413: () => ({
		message: 'What was sent is too large for the service',
		advice:
			"Make this node's fields shorter, or ask the administrator to raise the limit of the service, or of the proxy before it.",
	}),
	429: () => ({
		...{ ...THROTTLED, token: undefined },
		message: 'The service is receiving too many requests',
		advice:
			"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
	}),
};

const OF_CALL: Entries = {
	401: rejectedToken,
	403: (answer) =>
		unlessPage(answer, {
			message: `The user isn't allowed to ${answer.action}`,
			advice:
				'Ask the administrator of the service for the permission, or use the credential of another user.',
		}),
	// An expired session or token, in Laravel, IIS and ArcGIS.
	419: rejectedToken,
	440: rejectedToken,
	498: rejectedToken,
};

/** Whether a login is refused in words: more than the status's name, and not only the path that isn't there. */
const isInWords = ({ words = '', text = '' }: Answer) =>
	words !== '' && !isStatusName(words) && !text.includes('oauth/login');

const noEndpoint = (answer: Answer): Partial<Meaning> => {
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
	const { status, words, ofLogin = false, retryAfterMs } = facts;
	const { baseUrl = '', action = '', hint = '', byStatus = {} } = about;
	const said = words === undefined ? '' : `: ${words.replace(JSON_PATH, '')}`;
	const doing = ofLogin
		? { action: 'log the user in', what: 'the login' }
		: { action, what: `to ${action}` };
	const answer = { ...facts, ...doing, baseUrl, hint, said, ofLogin };
	const isRefusal = status >= 400 && status < 500;
	// Any other 5xx is as unclear with it as without.
	const mayAsk = status !== 401 && (isRefusal || status === 503 || ofLogin);
	const asksToWait = mayAsk && retryAfterMs !== undefined;
	const entry: Partial<Meaning> = {
		...OF_ANY_REQUEST[status]?.(answer),
		...(ofLogin ? OF_LOGIN : OF_CALL)[status]?.(answer),
	};
	return {
		...consequenceOfRange(status),
		...(status >= 500 ? failed : refused)(answer),
		...entry,
		...(ofLogin ? {} : byStatus[status]),
		...(asksToWait && isRefusal && entry.resend !== 'all' && refusedForNow(answer)),
		...(asksToWait && { ...THROTTLED, token: undefined, retryAfterMs }),
		...saidBy(answer),
	};
}

/** What isn't known for certain may have acted. 451 is the last refusal that HTTP knows: 499 may be a call cut off midway. */
function consequenceOfRange(status: number): Consequence {
	const token = 'doubtful';
	// The statuses of proxies and CDNs whose service is away.
	if ([502, 503, 504].includes(status) || (status >= 520 && status <= 599)) return UNAVAILABLE;
	// What isn't implemented won't be the next time.
	if ([501, 505].includes(status)) return { ...UNCLEAR, token };
	if (status >= 500 && status <= 599) return { ...FAILED, token };
	// These are about the request, no matter with which token.
	if ([404, 405, 409, 410, 422].includes(status)) return ANSWERED;
	if (status >= 400 && status <= 451) return { ...ANSWERED, token };
	const isSuccess = status >= 200 && status <= 299;
	return { ...UNCLEAR, token, condition: isSuccess ? 'answered' : 'failed' };
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
