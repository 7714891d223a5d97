import type { FailureOf } from './failure';

/** What a request was for, as far as its error says so. */
export interface About {
	/** The address of the service, as the credential has it. */
	baseUrl?: string;
	/** Of one request, in milliseconds. */
	timeout?: number;
	/** What the request was to do, as in "The service refused to ...". */
	action?: string;
	/** What a user who is refused may have mixed up. */
	hint?: string | undefined;
}

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

/** Characters of the service's message in a title at most: the description has all of it. */
const MAX_REASON = 80;

/** Where in the request something is wrong: in a title, it would leave no room for what is wrong. */
const JSON_PATH = /^[\w$]+(?:[/.][\w$]+)+:? (?=\S)/;

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** The settings that name a proxy. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

/** What an error with this status says. */
export function textsOfStatus(failure: FailureOf<'status'>, about: About): ErrorTexts {
	const { status, text, ofLogin } = failure;
	const { baseUrl = '', hint = '' } = about;
	const action = ofLogin === true ? 'log the user in' : (about.action ?? '');
	// The service's words about a login stay out of what the test of a credential shows.
	const isShown = text !== undefined && ofLogin !== true;
	const words = isShown ? `: ${truncate(text.replace(JSON_PATH, ''), MAX_REASON)}` : '';
	if (status === 407) {
		return {
			message: 'The proxy before the service wants a login',
			advice: `Add the user and the password of the proxy to its address (${PROXIES}), as in http://user:password@proxy:8080.`,
		};
	}
	if (status === 408) {
		return { message: 'The service gave up waiting for the request', advice: 'Try again later.' };
	}
	if (status === 429) {
		return {
			message: 'The service is receiving too many requests',
			advice:
				"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
		};
	}
	if (status >= 500) {
		return {
			message: `The service failed to ${action}${words}`,
			advice:
				"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
		};
	}
	if (ofLogin === true) return textsOfRefusedLogin(status, baseUrl);
	switch (status) {
		case 401:
		case 419:
		case 440:
		case 498:
			return {
				message: 'The service rejected the token that it had just issued',
				advice: `The login works, but its token doesn't. Check that the user is allowed to ${action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
			};
		case 403:
			return {
				message: `The user isn't allowed to ${action}`,
				advice:
					'Ask the administrator of the service for the permission, or use the credential of another user.',
			};
		default:
			return {
				message: `The service refused to ${action}${words}`,
				advice: `Check this node's fields.${/cluster/i.test(text ?? '') ? ` ${hint}`.trimEnd() : ''}`,
			};
	}
}

function textsOfRefusedLogin(status: number, baseUrl: string): ErrorTexts {
	if (status === 401) {
		return {
			message: 'The username or the password is wrong',
			advice:
				"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
		};
	}
	if (status === 404 || status === 405) {
		return {
			message: `No login endpoint at ${truncate(baseUrl)}/oauth/login`,
			advice: `${superfluousIn(baseUrl)}Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1.`,
		};
	}
	return {
		message: 'The service refused the login',
		advice:
			"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once.",
	};
}

/** "Remove /api/v1. " if a Base URL ends so. */
function superfluousIn(baseUrl: string): string {
	const [part] = /\/(?:api(?:\/v1)?|oauth(?:\/login)?)$/.exec(baseUrl) ?? [];
	return part === undefined ? '' : `Remove ${part}. `;
}

/** A text for a title, cut if it is long. */
export function truncate(text: string, max = MAX_IN_TITLE): string {
	const characters = [...text];
	return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
