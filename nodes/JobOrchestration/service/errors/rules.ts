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

/** What an error says. In a rule, `{name}` stands for a fact about the failure. */
export interface Words {
	/** What happened: the title, in about 80 characters at most. */
	message: string;
	/** What to do. */
	advice: string;
	/** What else is known. */
	detail?: string;
}

/** What follows from a failure. */
export interface Consequence {
	/** Which requests may be sent again: all, those that do the same if sent twice, or none. */
	resend: 'all' | 'idempotent' | 'none';
	/** Whether the service may have acted on the request. False only if it certainly has not. */
	mayHaveActed: boolean;
	condition: Condition;
}

type Rule = Consequence & Words;

const UNSENT = { resend: 'none', mayHaveActed: false, condition: 'unknown' } as const;
const REFUSED = { resend: 'none', mayHaveActed: false, condition: 'answered' } as const;
const UNCLEAR = { resend: 'none', mayHaveActed: true, condition: 'answered' } as const;
const FAILED = { resend: 'idempotent', mayHaveActed: true, condition: 'answered' } as const;
const UNAVAILABLE = { ...FAILED, condition: 'unavailable' } as const;
const THROTTLED = { resend: 'all', mayHaveActed: false, condition: 'throttled' } as const;
const UNREACHABLE = { ...THROTTLED, condition: 'unreachable' } as const;

const redirect = {
	message: 'The service redirects to {location}',
	advice:
		"If this is the service's new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
	detail:
		"The address is {location} (HTTP {status}). Redirects aren't followed, so that the token stays with the service.",
};
const redirectNowhere = {
	message: 'The service redirects without saying where to',
	advice:
		"Check the 'Base URL' in the credential, or ask whoever runs the service for its address.",
	detail:
		"It answered with HTTP {status}. Redirects aren't followed, so that the token stays with the service.",
};
const refused = {
	message: 'The service refused to {action}',
	advice: "Check this node's fields.",
};
const failed = {
	message: 'The service failed to {action}',
	advice:
		"The fault is on the service's side. Try again later. If that doesn't help, tell whoever runs the service.",
};
const endedUnsent = 'The connection ended before anything was sent ({code}).';

/** All that follows from a failure, by its key. What isn't known for certain may have acted. */
export const RULES = {
	baseUrl: {
		...UNSENT,
		message: "The credential's 'Base URL' {problem}",
		advice:
			'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.',
	},
	unreachable: {
		...UNREACHABLE,
		message: "The service at {baseUrl} can't be reached",
		advice:
			"Check the host and the port of the 'Base URL' in the credential, and that the service is running and can be reached from this n8n.",
		detail: '{why}',
	},
	unknownHost: {
		...UNREACHABLE,
		message: "The service at {baseUrl} can't be reached",
		advice:
			"Check the 'Base URL' in the credential for a typo, and that this n8n can look up the name.",
		detail: '{why}',
	},
	unreachableProxy: {
		...UNREACHABLE,
		message: "The proxy at {address} can't be reached",
		advice:
			"n8n sends its requests through this proxy. Check n8n's settings HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and that the proxy is running.",
		detail: '{why}',
	},
	blocked: {
		...UNSENT,
		message: "n8n doesn't allow requests to {baseUrl}",
		advice:
			"Ask whoever runs this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
		detail: 'Nothing was sent. n8n says: "{reason}".',
	},
	tls: {
		...UNSENT,
		message: 'No secure connection to {baseUrl} is possible',
		advice:
			"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask whoever runs the service which versions of TLS it offers.",
		detail: endedUnsent,
	},
	certificate: {
		...UNSENT,
		message: "The certificate of {baseUrl} isn't trusted",
		advice:
			"Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
		detail: endedUnsent,
	},
	timeout: {
		...FAILED,
		condition: 'timedOut',
		message: "The service didn't answer within {limit}",
		advice: "Try again later, or allow more time with the option 'Timeout'.",
	},
	broken: {
		...FAILED,
		condition: 'broken',
		message: 'The connection broke before the answer was complete',
		advice: 'Try again later.',
		detail: 'The service, a proxy or the network ended the connection ({code}).',
	},
	cancelled: {
		...UNCLEAR,
		condition: 'unknown',
		message: 'The execution was cancelled',
		advice: '',
	},
	cancelledUnsent: { ...UNSENT, message: 'The execution was cancelled', advice: '' },
	n8nFailed: {
		...UNSENT,
		resend: 'all',
		message: "n8n couldn't send the request",
		advice: "Try again later. If that doesn't help, open the credential in n8n and save it.",
		detail: 'Nothing was sent. n8n says: "{reason}".',
	},
	n8nTimeout: {
		...UNSENT,
		message: "n8n's store of credentials didn't answer within {limit}",
		advice:
			"Try again later, or allow more time with the option 'Timeout'. If that doesn't help, check n8n's database.",
		detail: 'Nothing was sent.',
	},
	foreignAddress: {
		...UNSENT,
		message: 'This credential is for {baseUrl} only',
		advice: "Use an address that begins with the credential's 'Base URL', or another credential.",
		detail: 'The request was for {address}, which must not get the token.',
	},
	proxy: {
		...UNSENT,
		message: "This credential can't be used with the node's own proxy",
		advice:
			"Remove the option 'Proxy' from the node. n8n's own proxy settings (HTTP_PROXY, HTTPS_PROXY) apply without it.",
		detail: 'Nothing was sent: a proxy that a workflow names must not get the token.',
	},
	endlessList: {
		...REFUSED,
		message: 'The list of work clusters never ends',
		advice:
			"Report this to whoever runs the service. To get the first of the clusters, turn off 'Return All' and set a low 'Limit'.",
		detail: '{sign}',
	},
	unexpectedResponse: {
		...UNCLEAR,
		message: 'The service answered with {came} instead of {expected}',
		advice:
			"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or log-in page answers in its place.",
		detail: 'It sent {received} (HTTP {status}).',
	},
	noResponse: {
		...UNCLEAR,
		message: "n8n's request helper returned no HTTP response",
		advice: 'Try again later.',
		detail: 'It returned {received}.',
	},
	redirect: { ...UNCLEAR, ...redirect },
	redirectNowhere: { ...UNCLEAR, ...redirectNowhere },
	// The client is to send the same request elsewhere (RFC 9110): nothing was done.
	'redirect 307': { ...REFUSED, ...redirect },
	'redirectNowhere 307': { ...REFUSED, ...redirectNowhere },
	'status 401': {
		...REFUSED,
		message: 'The service rejected the token that it had just issued',
		advice:
			"The log-in works, but the token from it doesn't. Check that the user is allowed to {action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
	},
	'status 403': {
		...REFUSED,
		message: "The user isn't allowed to {action}",
		advice:
			'Ask whoever runs the service for the permission, or use the credential of another user.',
	},
	'status 408': {
		...FAILED,
		message: 'The service gave up waiting for the request',
		advice: 'Try again later.',
	},
	'status 429': {
		...THROTTLED,
		message: 'The service is receiving too many requests',
		advice:
			"Try again later. If that doesn't help, ask whoever runs the service how many requests it accepts.",
	},
	'status 500': { ...FAILED, ...failed },
	'status 502': { ...UNAVAILABLE, ...failed },
	'status 503': { ...UNAVAILABLE, ...failed },
	'status 503 with Retry-After': { ...THROTTLED, ...failed },
	'status 504': { ...UNAVAILABLE, ...failed },
	refusal: { ...REFUSED, ...refused },
	oddStatus: { ...UNCLEAR, ...refused },
	serverError: { ...UNCLEAR, ...failed },
} satisfies Record<string, Rule>;
