import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** Why a call failed. Plain data in an error's `context`, which n8n keeps when it wraps the error. */
export type Failure = {
	/** It is the login's: the request itself was not sent, or not acted on for its token. */
	ofLogin?: true;
	/** The service doesn't accept the token any more, and there is another one for the next request. */
	hasExpired?: true;
} & (
	| /** The Base URL of the credential can't be used. */
	{
			kind: 'baseUrl';
			problem: 'empty' | 'notAnAddress' | 'otherScheme' | 'holdsUser' | 'holdsQuery';
			/** What was probably meant. */
			corrected?: string | undefined;
	  }
	/** No connection was made: nothing was sent. The address is the service's or a proxy's, or 'the service' if it is unknown. */
	| { kind: 'unreachable'; code: string; address: string }
	/** n8n's SSRF protection doesn't allow the address: nothing was sent. */
	| { kind: 'blocked'; reason: string }
	/** The TLS handshake failed, above all because one side doesn't speak it: nothing was sent. */
	| { kind: 'tls'; code: string }
	/** The certificate isn't trusted: nothing was sent. */
	| { kind: 'certificate'; code: string }
	/** No answer in time. `after` (ms) is set if a request with a shorter Timeout gave up a login that may succeed. */
	| { kind: 'timeout'; after?: number }
	/** The connection broke after it was made. */
	| { kind: 'broken'; code: string }
	/** The request was aborted, above all by a cancel. `sent` is false only if it certainly was not sent. */
	| { kind: 'cancelled'; sent: boolean }
	/** n8n failed before it sent the request, and what it says: that its database is busy, say. */
	| { kind: 'n8nFailed'; reason: string }
	/** The answer points to another address, or to 'another address' if it doesn't say which. */
	| { kind: 'redirect'; status: number; location: string }
	/** A status that isn't success, or a body that says so; the service's words or why there are none; Retry-After. */
	| {
			kind: 'status';
			status: number;
			text?: string | undefined;
			note?: string | undefined;
			retryAfterMs?: number | undefined;
	  }
	/** An answer that isn't what the interface shows: what it is, and what it holds. */
	| {
			kind: 'unexpectedResponse';
			status: number;
			what: string;
			received: string;
			expected: string;
	  }
	/** A list without an end. */
	| { kind: 'endlessList' }
	/** A list whose last page says how many more there are, but not where they begin. */
	| { kind: 'cutList'; remaining: number }
	/** A request that doesn't go to the Base URL or below it, or by a workflow's proxy, and must not get the token. */
	| { kind: 'foreignAddress'; address: string }
);

export type FailureOf<Kind extends Failure['kind']> = Extract<Failure, { kind: Kind }>;

/** The failures that this node's errors hold. n8n's wrappers pass the same object on, and nothing else is trusted. */
const ownFailures = new WeakSet<object>();

/** The context of an error with this failure. */
export function contextOf(failure: Failure): { failure: Failure } {
	ownFailures.add(failure);
	return { failure };
}

function isOwnFailure(value: unknown): value is Failure {
	return isJsonObject(value) && ownFailures.has(value);
}

/** A failure as a run is told of it that didn't meet it itself: without the service's words to others. */
export function withoutServiceText(failure: Failure): Failure {
	if (failure.kind !== 'status') return failure;
	return { ...failure, text: undefined, note: 'The service answered other requests so' };
}

const unreachable = (code: string, address = 'the service'): Failure => ({
	kind: 'unreachable',
	code,
	address,
});

const CERTIFICATE =
	/\b(CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate has expired|certificate's altnames)/;

/**
 * OpenSSL's messages for a failed handshake. EPROTO with "write" means that the request was still waiting for the
 * handshake; without it, or with another reason, something may have been sent.
 */
const HANDSHAKE =
	/\bwrite EPROTO\b.*?(wrong version number|packet length too long|unsupported protocol|unknown protocol|handshake failure|alert protocol version|unrecognized name|no protocols available|no shared cipher|http request)/is;

/** Characters of an error's text that are searched. With all, a pattern could take seconds for a long one. */
const MAX_TEXT = 1_000;

/**
 * What the codes and texts of errors mean: the first pattern that matches any of them decides. Without a connection,
 * n8n 1.x drops the code and writes its own text (n8n-workflow, COMMON_ERRORS).
 */
const PATTERNS: Array<[pattern: RegExp, failureFrom: (match: string[]) => Failure]> = [
	[/\bERR_CANCELED\b|^canceled$/, () => ({ kind: 'cancelled', sent: true })],
	// What n8n says if its administrator has not allowed an address (@n8n/backend-network, SsrfBlocked…Error).
	[
		/^The request was blocked because .*\brestricted\b.*/,
		([reason = '']) => ({ kind: 'blocked', reason }),
	],
	[CERTIFICATE, ([code = '']) => ({ kind: 'certificate', code })],
	[HANDSHAKE, ([, reason]) => ({ kind: 'tls', code: `EPROTO, ${reason}` })],
	[
		/^(?:connect|getaddrinfo) (E[A-Z_]+)(?: (\S+))?/,
		([, code = '', address]) => unreachable(code, address),
	],
	// These come before a connection exists, no matter which system call reports them.
	[/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/, ([code = '']) => unreachable(code)],
	[/service refused the connection/i, () => unreachable('ECONNREFUSED')],
	[/DNS server returned an error/i, () => unreachable('EAI_AGAIN')],
	[/incorrect host \(domain\) value/i, () => unreachable('ENOTFOUND')],
	[
		/^timeout of \d+\s?ms exceeded$|^timeout exceeded$|\bETIMEDOUT\b|connection timed out/,
		() => ({ kind: 'timeout' }),
	],
];

/**
 * The failure behind an error: the one that the credential has put into it, or else the request's; of one that was
 * certainly not sent, n8n's in its own words.
 *
 * @param redact takes the secrets out of a text
 */
export function failureFromError(
	error: unknown,
	{ isUnsent = false, redact = (text: string) => text } = {},
): Failure {
	const own = ownFailureOf(error);
	if (own !== undefined) return own;
	const failure = requestFailureFromError(error);
	if (!isUnsent) return failure;
	if (failure.kind === 'cancelled') return { ...failure, sent: false };
	const reason = error instanceof Error ? error.message : String(error);
	return { kind: 'n8nFailed', reason: redact(reason).slice(0, 200) };
}

/** The failure that this node's credential has put into an error, or into one that n8n has wrapped. */
function ownFailureOf(error: unknown): Failure | undefined {
	return causesOf(error)
		.map(({ context }) => (isJsonObject(context) ? context.failure : undefined))
		.find(isOwnFailure);
}

/**
 * The failure behind an error of n8n's request helper. In n8n 2.x, the system's error is the `cause` of a
 * NodeApiError; in 1.x only its text remains, among `messages`. What isn't recognised counts as a broken connection.
 */
export function requestFailureFromError(error: unknown): Failure {
	const chain = causesOf(error);
	const codes = chain.map(({ code }) => code).filter(isText);
	const messages = chain.flatMap(({ message, messages: more }) => [message, more].flat());
	const texts = messages.filter(isText).map((text) => text.slice(0, MAX_TEXT));
	const calls = chain.map(({ syscall, code }) => `${String(syscall)} ${String(code)}`);
	for (const [pattern, failureFrom] of PATTERNS) {
		for (const text of [...codes, ...texts, ...calls]) {
			const match = pattern.exec(text);
			if (match !== null) return failureFrom(match);
		}
	}
	if (chain.some(isUnauthorized)) return { kind: 'status', status: 401 };
	return { kind: 'broken', code: codes[0] ?? texts[0]?.slice(0, 80) ?? 'unknown' };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** An error and the errors behind it, outermost first, each seen once. */
function causesOf(error: unknown): JsonObject[] {
	const chain: JsonObject[] = [];
	const waiting: unknown[] = [error];
	while (waiting.length > 0 && chain.length < 10) {
		const next = waiting.shift();
		if (!isJsonObject(next) || chain.includes(next)) continue;
		chain.push(next);
		// If a name has two addresses, a refused connection is an AggregateError without a message.
		waiting.push(next.cause, ...(Array.isArray(next.errors) ? next.errors : []));
	}
	return chain;
}

function isUnauthorized({ httpCode, response }: JsonObject): boolean {
	return httpCode === '401' || (isJsonObject(response) && response.status === 401);
}
