import { sentences, truncate } from '../../texts';
import { ANSWERED, type Cause, type Consequence, UNKNOWN } from '../retry/facts';
import { consequenceOf, RETRY } from '../retry/policy';
import { certificateFault } from './certificateFault';
import { meaningOfStatus } from './meaningOfStatus';
import { type About, type Meaning, PROXIES, rejectedToken, type StatusFacts } from './statuses';

/** What every failure may have. */
interface Common {
	/** It is the login's: the request itself was not sent, or not acted on for its token. */
	ofLogin?: true;
	/** It may have been acted on, and the service no longer accepts its token. */
	hasExpired?: true;
	/** What a health check has found to be the cause. */
	cause?: Cause;
}

/** Milliseconds that a login may take. A node with a shorter Timeout doesn't wait as long. */
export const LOGIN_TIMEOUT_MS = 60_000;

/** Nothing was sent, for a reason that concerns all items. */
const UNSENT = { ...UNKNOWN, isAboutAllItems: true } as const;

/** The Base URL, cut for a title. */
const serviceIn = ({ baseUrl = '' }: About) => truncate(baseUrl);

/** Each kind of failure: what is known of it, what follows from it, and what its error says. */
const KINDS = {
	/** A field of the credential can't be used. `problem` completes a sentence. */
	credentialField: ({
		field,
		problem,
		advice,
	}: Record<'field' | 'problem' | 'advice', string>) => ({
		...{ ...UNSENT, advice },
		message: `The credential's '${field}' ${problem}`,
	}),
	/** No connection was made: nothing was sent. The address is the service's or a proxy's, or 'the service' if it is unknown. */
	unreachable: ({ code, address }: { code: string; address: string }, about) => {
		const port = /:(?!(?:80|443)$)\d+$/.exec(address)?.[0];
		const isService = port === undefined || `${about.baseUrl ?? ''}/`.includes(`${port}/`);
		const what = isService ? 'the service' : `the service or its proxy (${PROXIES})`;
		return {
			...{ condition: 'unreachable', mayHaveActed: false, isAboutAllItems: true },
			message: `The service at ${serviceIn(about)} can't be reached`,
			advice:
				code === 'ENOTFOUND'
					? "Check the 'Base URL' in the credential: this n8n knows no host of that name."
					: `Check the 'Base URL' in the credential, and that ${what} is running and can be reached from this n8n.`,
			detail: `No connection to ${address} was possible (${code}).`,
		};
	},
	/** n8n's SSRF protection doesn't allow the address: nothing was sent. */
	blocked: ({ reason }: { reason: string }, about) => ({
		...UNSENT,
		message: `n8n doesn't allow requests to ${serviceIn(about)}`,
		advice:
			"Ask the administrator of this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
		detail: n8nSays(reason),
	}),
	/** The TLS handshake failed, above all because one side doesn't speak it: nothing was sent. */
	tls: ({ code }: { code: string }, about) => ({
		...UNSENT,
		message: `No secure connection to ${serviceIn(about)} is possible`,
		advice:
			"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask the administrator of the service which versions of TLS it offers.",
		detail: endedUnsent(code),
	}),
	/** The credential's field Allowed HTTP Request Domains, which n8n adds, lacks the service's host: nothing was sent. */
	notAllowed: ({ reason }: { reason: string }, about) => ({
		...UNSENT,
		message: `The credential doesn't allow requests to ${serviceIn(about)}`,
		advice:
			"Open the credential, and add the service's host to 'Allowed Domains', below 'Allowed HTTP Request Domains', or choose 'All' there.",
		detail: n8nSays(reason),
	}),
	certificate: ({ code }: { code: string }, about) => {
		const [reason, advice] = certificateFault(code);
		return {
			...UNSENT,
			message: `The certificate of ${serviceIn(about)} isn't trusted`,
			advice: `${advice} If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.`,
			detail: `The connection ended before anything was sent: ${reason} (${code}).`,
		};
	},
	/** No answer in time. `after` (ms) is set if a request with a shorter Timeout gave up a login that may succeed. */
	timeout: ({ after, ofLogin }: Common & { after?: number }, { timeout = 0 }) => ({
		...{ condition: 'timedOut', mayHaveActed: true },
		message: `The service didn't answer ${ofLogin ? 'the login ' : ''}within ${(after ?? (ofLogin ? LOGIN_TIMEOUT_MS : timeout)) / 1_000} s`,
		advice: `Try again later, or allow more time with the option 'Timeout'${ofLogin ? ' if it is shorter than a minute' : ''}.`,
	}),
	broken: ({ code }: { code: string }) => ({
		...{ condition: 'broken', mayHaveActed: true },
		message: 'The connection broke before the answer was complete',
		advice:
			"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
		detail: `The service, a proxy or the network ended the connection (${code}).`,
	}),
	/** The request was aborted, above all by a cancel. `sent` is false only if it certainly was not sent. */
	cancelled: ({ sent }: { sent: boolean }) => ({
		...{ ...UNKNOWN, mayHaveActed: sent },
		message: 'The execution was cancelled',
		advice: '',
	}),
	/** n8n failed before it sent the request, and what it says: that its database is busy, say. */
	n8nFailed: ({ reason }: { reason: string }) => ({
		...{ ...UNSENT, condition: 'n8nFailed' },
		message: "n8n couldn't send the request",
		advice: "Try again later. If that doesn't help, open the credential in n8n and save it.",
		detail: n8nSays(reason),
	}),
	/** The answer points to another address, or to 'another address' if it doesn't say which. */
	redirect: ({ status, location }: { status: number; location: string }) => ({
		// By 307 and 308, the client is to send the same request elsewhere (RFC 9110): nothing was done.
		...consequenceOf({ status }),
		message: `The service redirects to ${truncate(location)}`,
		advice:
			"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
		detail: `The redirect is to ${location} (HTTP ${status}). Redirects aren't followed, so that the token stays with the service.`,
	}),
	status: (facts: Common & StatusFacts, about) => meaningOfStatus(facts, about),
	/** The service rejected the tokens of the last logins: nothing was sent, and no other login is made for a while. */
	noToken: (_facts: { status: number }, about) => ({
		...UNSENT,
		...rejectedToken(about),
		detail: 'The service has rejected the tokens of other requests.',
	}),
	/** An answer with a success's status that isn't what the interface shows: what it is, and what it holds. */
	unexpectedResponse: (
		facts: Record<'what' | 'received' | 'expected', string> & { status: number },
	) => ({
		...consequenceOf(facts),
		message: `The service answered with ${facts.what} instead of ${facts.expected}`,
		advice:
			"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.",
		detail: `It sent ${facts.received} (HTTP ${facts.status}).`,
	}),
	endlessList: () => ({
		...ANSWERED,
		message: 'The list of work clusters never ends',
		advice:
			"Raise 'Page Size' if it is small. Otherwise, report this to the administrator of the service. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
		detail: 'A page token came twice, or there are more than a thousand pages.',
	}),
	cutList: ({ remaining }: { remaining: number }) => ({
		...ANSWERED,
		message: 'The list of work clusters is cut off',
		advice:
			"Ask the administrator of the service how it names the next page: the node reads 'metadata.continue'. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
		detail: `The last page says that ${remaining} more follow, but not where.`,
	}),
	/** A request that doesn't go to the Base URL or below it, or by a workflow's proxy, and must not get the token. */
	foreignAddress: ({ address }: { address: string }, about) => ({
		...UNKNOWN,
		message: `This credential is for ${serviceIn(about)} only`,
		advice:
			"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
		detail: `Nothing was sent: ${address} must not get the token.`,
	}),
} satisfies Record<string, (facts: never, about: About) => Meaning>;

/** Why a call failed. Plain data in an error's `context`, which n8n keeps when it wraps the error. */
export type Failure = {
	[Kind in keyof typeof KINDS]: (typeof KINDS)[Kind] extends (
		facts: infer Facts,
		about: never,
	) => Meaning
		? Common & { kind: Kind } & Facts
		: never;
}[keyof typeof KINDS];

/** What a failure means: what follows from it, and what its error says. */
export function meaningOf(failure: Failure, about: About = {}): Meaning {
	const meaning: Meaning = KINDS[failure.kind](failure as never, about);
	if (failure.ofLogin === true) {
		const { message, words, isIntroduction = false, advice, reason, detail } = meaning;
		return { message, words, isIntroduction, advice, reason, detail, ...ofLogin(meaning) };
	}
	if (failure.hasExpired !== true) return meaning;
	const expired = 'The login seems to have expired: the next request logs in again.';
	return { ...meaning, detail: sentences([meaning.detail, expired]) };
}

/** What a failed login means for the request that waited for it, which was not sent, or not acted on. */
function ofLogin({ condition, retryAfterMs }: Meaning): Consequence {
	if (!RETRY.loginAgain.includes(condition)) return { ...UNKNOWN, isAboutAllItems: true };
	const own = condition === 'broken' ? 'loginFailed' : condition;
	return { condition: own, mayHaveActed: false, isAboutAllItems: true, retryAfterMs };
}

/** A failure as a run is told of it that didn't meet it itself: without the service's words to others. */
export function withoutServiceText(failure: Failure): Failure {
	if (failure.kind !== 'status') return failure;
	const withheld = 'The service answered other requests so';
	return { ...failure, words: undefined, text: undefined, withheld };
}

const endedUnsent = (code: string) => `The connection ended before anything was sent (${code}).`;
const n8nSays = (reason: string) => `Nothing was sent. n8n says: "${reason}".`;
