import { type Texts, truncate } from '../../texts';
import type { Consequence, FailedResponse } from '../retry/facts';
import type { Said } from './said';

/** The facts of a response whose status code is not a success, or whose body says that the request failed. */
export interface StatusFacts extends Said, FailedResponse {
	bodyType?: 'page' | 'text' | 'json';
}

/** The purpose of a request, as far as its error mentions it. */
export interface About {
	/** The address of the service, as it is in the credential. */
	baseUrl?: string;
	/** The time limit of one request, in milliseconds. */
	timeout?: number;
	/** What the request was meant to do, to complete a sentence such as "The service refused to ...". */
	action?: string;
	/** A hint at what the user may have confused if the service refuses the request. */
	hint?: string;
	/** The call's own texts by status code. */
	byStatus?: TextsByStatus;
}

/** Everything that a failure means: its consequence and the texts of its error. */
export interface Meaning extends Consequence, Texts {
	/** Whether a value of the item may be wrong, since the service refused the request because of its content. */
	isWrongValue?: boolean;
}

/** A response, and the purpose of its request. */
export interface Answer extends StatusFacts, Required<Pick<About, 'baseUrl' | 'action' | 'hint'>> {
	/** The purpose as the end of a sentence that begins with "The service refused". */
	what: string;
	/** Whether the request was a login. */
	ofLogin: boolean;
}

/** The texts of a status code that differ from the usual ones. Without a `message`, the error has the usual one. */
export type StatusTexts = Partial<Texts> & Pick<Meaning, 'isWrongValue'>;
export type TextsByStatus = Partial<Record<number, (answer: Answer) => StatusTexts>>;

/** The settings of n8n that name a proxy, as a text for users. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

const HEADERS_TOO_LARGE = "The request's headers are too large for the service";

export const TEXTS_OF_ANY_REQUEST: TextsByStatus = {
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
	431: () => ({
		message: HEADERS_TOO_LARGE,
		advice:
			'Ask the administrator to raise the limit for headers of the service, or of the proxy before it.',
	}),
};

/** Returns the texts for a rejected token if another login doesn't help. */
const rejectedToken = ({ action = '' }: About) => ({
	message: 'The service rejected the token that it had just issued',
	advice: `The login works, but its token doesn't. Check that the user is allowed to ${action}, that the clocks of the service's machines agree, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
});

/** Returns the texts for headers that are too large. The longest header of a call is its token. */
const tooLongToken = () => ({
	message: HEADERS_TOO_LARGE,
	advice:
		'The token of the login is probably too long, as for a user in many groups. Use the credential of another user, or ask the administrator to raise the limit for headers of the service, or of the proxy before it.',
	isWrongValue: false,
});

/** Matches a sentence by which servers say that headers are too large. */
const IS_ABOUT_HEADERS =
	/\b(?:(?:request|authorization|https?)[ -]headers?|header (?:field|value|line|or cookie)s?|cookies?)\b[^.:;"{}]*\b(?:too (?:large|long|big)|exceed)|\b(?:size|length) of (?:the|a) (?:request|https?) headers?\b/i;

const unlessTokenIsTooLong = ({ text = '' }: Answer) =>
	IS_ABOUT_HEADERS.test(text) ? tooLongToken() : {};

export const TEXTS_OF_CALL: TextsByStatus = {
	400: unlessTokenIsTooLong,
	401: (answer) => (answer.bodyType === 'page' ? {} : rejectedToken(answer)),
	403: ({ bodyType, action, words }) =>
		bodyType === 'page'
			? {}
			: {
					message: `The user isn't allowed to ${action}`,
					words,
					advice:
						'Ask the administrator of the service for the permission, or use the credential of another user.',
				},
	413: unlessTokenIsTooLong,
	431: tooLongToken,
	494: tooLongToken,
};

/**
 * Decides whether a refused login has a message. The name of the status code doesn't count as a message, nor does a
 * text that only says that the path doesn't exist.
 */
const isInWords = ({ words = '', text = '', isStatusName }: Answer) =>
	words !== '' && isStatusName !== true && !text.includes('oauth/login');

const noEndpoint = (answer: Answer): StatusTexts => {
	const { baseUrl, bodyType, status } = answer;
	// A web server responds to a path that doesn't exist with a page or a text, so JSON is the endpoint's own.
	if (bodyType === 'json' && isInWords(answer)) return {};
	const [part] = /\/(?:api(?:\/v1)?|oauth(?:\/login)?)$/.exec(baseUrl) ?? [];
	const remove = part === undefined ? '' : `Remove ${part}. `;
	const later =
		status === 404 ? ' If it has worked before, try again later: the service may be starting.' : '';
	return {
		message: `No login endpoint at ${truncate(baseUrl)}/oauth/login`,
		advice: `${remove}Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1.${later}`,
	};
};

const WRONG = 'The username or the password is wrong';

export const TEXTS_OF_LOGIN: TextsByStatus = {
	401: (answer) =>
		answer.bodyType === 'page' || (isInWords(answer) && answer.words !== WRONG)
			? {}
			: {
					message: WRONG,
					advice:
						"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
				},
	404: noEndpoint,
	405: noEndpoint,
};
