import { truncate } from '../../texts';
import { ANSWERED, type Consequence, UNKNOWN } from '../retry/facts';
import { consequenceOf, RETRY } from '../retry/policy';
import { certificateFault } from './certificateFault';
import { meaningOfStatus } from './meaningOfStatus';
import { type About, type Meaning, PROXIES, type StatusFacts } from './statuses';

/** The facts that a failure of any kind may have. */
interface Common {
	/** Set if the login failed. The request itself was not sent, or was not acted on because of its token. */
	ofLogin?: true;
}

/** The time limit of a login in milliseconds. A request with a shorter Timeout stops waiting for the login earlier. */
export const LOGIN_TIMEOUT_MS = 60_000;

/** The consequence of a failure that concerns all items and kept the request from being sent. */
const UNSENT = { ...UNKNOWN, isAboutAllItems: true } as const;

/** Returns the Base URL, truncated for a title. */
const serviceIn = ({ baseUrl = '' }: About) => truncate(baseUrl);

/** The kinds of failures. Each function turns the facts of a failure into its consequence and its error's texts. */
const KINDS = {
	/** A field of the credential has a value that can't be used. `problem` completes the sentence in the message. */
	credentialField: ({
		field,
		problem,
		advice,
	}: Record<'field' | 'problem' | 'advice', string>) => ({
		...{ ...UNSENT, advice },
		message: `The credential's '${field}' ${problem}`,
	}),
	/** No connection was made, so nothing was sent. `address` is the service's or a proxy's, or else 'the service'. */
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
	/** n8n's SSRF protection doesn't allow the address, so nothing was sent. */
	blocked: ({ reason }: { reason: string }, about) => ({
		...UNSENT,
		message: `n8n doesn't allow requests to ${serviceIn(about)}`,
		advice:
			"Ask the administrator of this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
		detail: n8nSays(reason),
	}),
	/** The TLS handshake failed, mostly because one side doesn't use TLS. Nothing was sent. */
	tls: ({ code }: { code: string }, about) => ({
		...UNSENT,
		message: `No secure connection to ${serviceIn(about)} is possible`,
		advice:
			"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask the administrator of the service which versions of TLS it offers.",
		detail: endedUnsent(code),
	}),
	/** The service's host isn't in Allowed HTTP Request Domains, a credential field that n8n adds. Nothing was sent. */
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
	/** No response came within `after` milliseconds, if that is known. */
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
	/** The request was aborted, mostly by a cancel. `sent` is false only if the request was certainly not sent. */
	cancelled: ({ sent }: { sent: boolean }) => ({
		...{ ...UNKNOWN, mayHaveActed: sent },
		message: 'The execution was cancelled',
		advice: '',
	}),
	/** n8n failed before it sent the request. `reason` is n8n's message, for example that its database is busy. */
	n8nFailed: ({ reason }: { reason: string }) => ({
		...{ ...UNSENT, condition: 'n8nFailed' },
		message: "n8n couldn't send the request",
		advice: "Try again later. If that doesn't help, open the credential in n8n and save it.",
		detail: n8nSays(reason),
	}),
	/** The response redirects to another address. `location` is 'another address' if the response doesn't name it. */
	redirect: ({ status, location }: { status: number; location: string }) => ({
		// A 307 or 308 asks the client to send the same request elsewhere (RFC 9110), so the service has done nothing.
		...consequenceOf({ status }),
		message: `The service redirects to ${truncate(location)}`,
		advice:
			"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
		detail: `The redirect is to ${location} (HTTP ${status}). Redirects aren't followed, so that the token stays with the service.`,
	}),
	status: (facts: Common & StatusFacts, about) => meaningOfStatus(facts, about),
	/** A successful response isn't what the interface document shows. `what` is its kind, `received` its content. */
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
	/** A request goes outside the Base URL, or through a workflow's proxy, so it must not get the token. */
	foreignAddress: ({ address }: { address: string }, about) => ({
		...UNKNOWN,
		message: `This credential is for ${serviceIn(about)} only`,
		advice:
			"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
		detail: `Nothing was sent: ${address} must not get the token.`,
	}),
} satisfies Record<string, (facts: never, about: About) => Meaning>;

/** The reason why a call failed. It is plain data in the error's `context`, which n8n keeps when it wraps the error. */
export type Failure = {
	[Kind in keyof typeof KINDS]: (typeof KINDS)[Kind] extends (
		facts: infer Facts,
		about: never,
	) => Meaning
		? Common & { kind: Kind } & Facts
		: never;
}[keyof typeof KINDS];

/** Returns what a failure means: its consequence and the texts of its error. */
export function meaningOf(failure: Failure, about: About = {}): Meaning {
	const meaning: Meaning = KINDS[failure.kind](failure as never, about);
	if (failure.ofLogin === true) {
		const { message, words, isIntroduction = false, advice, reason, detail } = meaning;
		return { message, words, isIntroduction, advice, reason, detail, ...ofLogin(meaning) };
	}
	return meaning;
}

/** Returns the consequence of a failed login for the request that waited for it: it was not sent, or not acted on. */
function ofLogin({ condition, retryAfterMs }: Meaning): Consequence {
	if (!RETRY.loginAgain.includes(condition)) return { ...UNKNOWN, isAboutAllItems: true };
	const own = condition === 'broken' ? 'loginFailed' : condition;
	return { condition: own, mayHaveActed: false, isAboutAllItems: true, retryAfterMs };
}

/** Returns a failure without the service's text, for an execution that didn't receive that response itself. */
export function withoutServiceText(failure: Failure): Failure {
	if (failure.kind !== 'status') return failure;
	const withheld = 'The service answered other requests so';
	return { ...failure, words: undefined, text: undefined, withheld };
}

const endedUnsent = (code: string) => `The connection ended before anything was sent (${code}).`;
const n8nSays = (reason: string) => `Nothing was sent. n8n says: "${reason}".`;
