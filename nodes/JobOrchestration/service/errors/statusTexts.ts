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

/** What an error says: what happened, what to do, and what else is known. */
export type Texts = [message: string, advice: string, detail?: string];

/** Characters of the service's message in a title at most: the description has all of it. */
const MAX_REASON = 80;

/** Where in the request something is wrong: in a title, it would leave no room for what is wrong. */
const JSON_PATH = /^[\w$]+(?:[/.][\w$]+)+:? (?=\S)/;

/** Characters of an ID or an address in a title at most: a whole UUID fits. */
const MAX_IN_TITLE = 36;

/** The settings that name a proxy. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

/** What an error with this status says. */
export function textsOfStatus(failure: FailureOf<'status'>, about: About): Texts {
	const { status, text, ofLogin } = failure;
	const { baseUrl = '', hint = '' } = about;
	const action = ofLogin === true ? 'log the user in' : (about.action ?? '');
	// The service's words about a login stay out of what the test of a credential shows.
	const isShown = text !== undefined && ofLogin !== true;
	const words = isShown ? `: ${truncate(text.replace(JSON_PATH, ''), MAX_REASON)}` : '';
	if (status === 407) {
		return [
			'The proxy before the service wants a login',
			`Add the user and the password of the proxy to its address (${PROXIES}), as in http://user:password@proxy:8080.`,
		];
	}
	if (status === 408) return ['The service gave up waiting for the request', 'Try again later.'];
	if (status === 429) {
		return [
			'The service is receiving too many requests',
			"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
		];
	}
	if (status >= 500) {
		return [
			`The service failed to ${action}${words}`,
			"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
		];
	}
	if (ofLogin === true) return textsOfRefusedLogin(status, baseUrl);
	switch (status) {
		case 401:
		case 419:
		case 440:
		case 498:
			return [
				'The service rejected the token that it had just issued',
				`The login works, but its token doesn't. Check that the user is allowed to ${action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
			];
		case 403:
			return [
				`The user isn't allowed to ${action}`,
				'Ask the administrator of the service for the permission, or use the credential of another user.',
			];
		default:
			return [
				`The service refused to ${action}${words}`,
				`Check this node's fields.${/cluster/i.test(text ?? '') ? ` ${hint}`.trimEnd() : ''}`,
			];
	}
}

function textsOfRefusedLogin(status: number, baseUrl: string): Texts {
	if (status === 401) {
		return [
			'The username or the password is wrong',
			"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
		];
	}
	if (status === 404 || status === 405) {
		return [
			`No login endpoint at ${truncate(baseUrl)}/oauth/login`,
			`${superfluousIn(baseUrl)}Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1.`,
		];
	}
	return [
		'The service refused the login',
		"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once.",
	];
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
