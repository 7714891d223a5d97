/** What a failure says about the service, for the limiter. `unknown`: nothing. */
export type Condition =
	| 'answered'
	| 'throttled'
	| 'unavailable'
	| 'unreachable'
	| 'broken'
	| 'loginFailed'
	| 'timedOut'
	| 'unknown';

/** What follows from a failure. */
export interface Consequence {
	/** Which requests may be sent again: all, those that do the same if sent twice, or none. */
	resend: 'all' | 'idempotent' | 'none';
	/** Whether the service may have acted on the request. False only if it certainly has not. */
	mayHaveActed: boolean;
	condition: Condition;
}

/**
 * What happened, in about 80 characters at most; what to do; what else is known. `{name}` stands for a fact about the
 * failure (explain.ts).
 */
type Texts = [message: string, advice: string, detail?: string];
type Rule = [Consequence, ...Texts];

const UNSENT: Consequence = { resend: 'none', mayHaveActed: false, condition: 'unknown' };
const REFUSED: Consequence = { ...UNSENT, condition: 'answered' };
const UNCLEAR: Consequence = { resend: 'none', mayHaveActed: true, condition: 'answered' };
const FAILED: Consequence = { ...UNCLEAR, resend: 'idempotent' };
const UNAVAILABLE: Consequence = { ...FAILED, condition: 'unavailable' };
const THROTTLED: Consequence = { resend: 'all', mayHaveActed: false, condition: 'throttled' };
const UNREACHABLE: Consequence = { ...THROTTLED, condition: 'unreachable' };

const ENDED_UNSENT = 'The connection ended before anything was sent ({code}).';
const N8N_SAYS = 'Nothing was sent. n8n says: "{reason}".';

const REDIRECT: Texts = [
	'The service redirects to {location}',
	"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
	"The redirect is to {location} (HTTP {status}). Redirects aren't followed, so that the token stays with the service.",
];
const REFUSES: Texts = [
	'The service refused to {action}{serviceReason}',
	"Check this node's fields.{hint}",
];
const FAILS: Texts = [
	'The service failed to {action}{serviceReason}',
	"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
];

/** What follows from each failure, and what its error says. What isn't known for certain may have acted. */
export const RULES = {
	baseUrl: [
		UNSENT,
		"The credential's 'Base URL' {problem}",
		'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.',
	],
	unreachable: [
		UNREACHABLE,
		"The service at {baseUrl} can't be reached",
		"Check the 'Base URL' in the credential, and that the service or its proxy (n8n's settings HTTP_PROXY and HTTPS_PROXY) is running and can be reached from this n8n.",
		'No connection to {address} was possible ({code}).',
	],
	blocked: [
		UNSENT,
		"n8n doesn't allow requests to {baseUrl}",
		"Ask the administrator of this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
		N8N_SAYS,
	],
	tls: [
		UNSENT,
		'No secure connection to {baseUrl} is possible',
		"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask the administrator of the service which versions of TLS it offers.",
		ENDED_UNSENT,
	],
	certificate: [
		UNSENT,
		"The certificate of {baseUrl} isn't trusted",
		"Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
		ENDED_UNSENT,
	],
	timeout: [
		{ ...FAILED, condition: 'timedOut' },
		"The service didn't answer within {limit}",
		"Try again later, or allow more time with the option 'Timeout'.",
	],
	broken: [
		{ ...FAILED, condition: 'broken' },
		'The connection broke before the answer was complete',
		"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
		'The service, a proxy or the network ended the connection ({code}).',
	],
	cancelled: [{ ...UNCLEAR, condition: 'unknown' }, 'The execution was cancelled', ''],
	cancelledUnsent: [UNSENT, 'The execution was cancelled', ''],
	n8nFailed: [
		{ ...UNSENT, resend: 'all' },
		"n8n couldn't send the request",
		"Try again later. If that doesn't help, open the credential in n8n and save it.",
		N8N_SAYS,
	],
	foreignAddress: [
		UNSENT,
		'This credential is for {baseUrl} only',
		"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
		'Nothing was sent: {address} must not get the token.',
	],
	endlessList: [
		REFUSED,
		'The list of work clusters never ends',
		"Raise 'Page Size' if it is small. Otherwise, report this to the administrator of the service. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
		'A page token came twice, or there are more than a thousand pages.',
	],
	unexpectedResponse: [
		UNCLEAR,
		'The service answered with {came} instead of {expected}',
		"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.",
		'It sent {received} (HTTP {status}).',
	],
	redirect: [UNCLEAR, ...REDIRECT],
	// The client is to send the same request elsewhere (RFC 9110): nothing was done.
	'redirect 307': [REFUSED, ...REDIRECT],
	'redirect 308': [REFUSED, ...REDIRECT],
	'status 401': [
		REFUSED,
		'The service rejected the token that it had just issued',
		"The login works, but its token doesn't. Check that the user is allowed to {action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
	],
	'status 403': [
		REFUSED,
		"The user isn't allowed to {action}",
		'Ask the administrator of the service for the permission, or use the credential of another user.',
	],
	'status 404': [REFUSED, ...REFUSES],
	'status 405': [REFUSED, ...REFUSES],
	'status 408': [FAILED, 'The service gave up waiting for the request', 'Try again later.'],
	'status 429': [
		THROTTLED,
		'The service is receiving too many requests',
		"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
	],
	'status 500': [FAILED, ...FAILS],
	'status 502': [UNAVAILABLE, ...FAILS],
	'status 503': [UNAVAILABLE, ...FAILS],
	'status 503 with Retry-After': [THROTTLED, ...FAILS],
	'status 504': [UNAVAILABLE, ...FAILS],
	refusal: [REFUSED, ...REFUSES],
	oddStatus: [UNCLEAR, ...REFUSES],
	serverError: [UNCLEAR, ...FAILS],
} satisfies Record<string, Rule>;

const NO_LOGIN: Texts = [
	'No login endpoint at {baseUrl}/oauth/login',
	"Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1.",
];
const LOGIN_REFUSED: Texts = [
	'The service refused the login',
	"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once.",
];

/** What is said of a login that failed, by the key of the rule, if it isn't the same as of any request. */
export const LOGIN_TEXTS: Partial<Record<keyof typeof RULES, Texts>> = {
	timeout: [
		"The service didn't answer the login within {limit}",
		"Try again later, or allow more time with the option 'Timeout' if it is shorter than a minute.",
	],
	'status 401': [
		'The username or the password is wrong',
		"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
	],
	'status 403': LOGIN_REFUSED,
	'status 404': NO_LOGIN,
	'status 405': NO_LOGIN,
	refusal: LOGIN_REFUSED,
	oddStatus: LOGIN_REFUSED,
};
