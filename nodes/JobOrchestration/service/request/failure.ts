import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** Why a call failed. Plain data in an error's `context`, which n8n keeps when it wraps the error. */
export type Failure =
	/** The Base URL of the credential can't be used. */
	| {
			kind: 'baseUrl';
			problem: 'empty' | 'notAnAddress' | 'otherScheme' | 'holdsUser' | 'holdsQuery';
	  }
	/**
	 * The connection was never made: the service can't have seen the request. The address is the one that was
	 * tried, a proxy's where there is one: `host:port`, or the name that wasn't found.
	 */
	| { kind: 'unreachable'; code: string; address?: string | undefined }
	/** n8n itself doesn't let its nodes send requests there (its SSRF protection): nothing was sent. */
	| { kind: 'blocked'; reason: string }
	/** No agreement on TLS, above all because one side doesn't speak it: nothing was sent. */
	| { kind: 'tls'; code: string }
	/** The certificate isn't trusted: the connection ended before the request was sent. */
	| { kind: 'certificate'; code: string }
	/** No answer in time; `after` (ms) is set where a request with a shorter Timeout gave up a log-in that may succeed. */
	| { kind: 'timeout'; after?: number }
	/** The connection broke after it was made. */
	| { kind: 'broken'; code: string }
	/** The request was aborted, above all because the execution was cancelled; `sent` is false only if it certainly was not sent. */
	| { kind: 'cancelled'; sent: boolean }
	/** n8n failed before it sent the request, and what it says: that its database is busy, say. */
	| { kind: 'n8nFailed'; reason: string }
	/** n8n's store of credentials took too long: nothing was sent within `after` milliseconds. */
	| { kind: 'n8nTimeout'; after: number }
	/** The answer points to another address; undefined if it does not say which. */
	| { kind: 'redirect'; status: number; location: string | undefined }
	/**
	 * An HTTP status that isn't success; the service's own words and its Retry-After (ms), where it sent any;
	 * `ofOthers` where only requests of other runs had this answer, whose words are not for this one.
	 */
	| {
			kind: 'status';
			status: number;
			text: string | undefined;
			retryAfter: number | undefined;
			ofOthers?: true;
	  }
	/** An answer that isn't what the interface shows; `status` is null if n8n's request helper returned none. */
	| { kind: 'unexpectedResponse'; status: number | null; received: string; expected: string }
	/** A list that would have no end, and what shows it. */
	| { kind: 'endlessList'; sign: string }
	/** A request that doesn't go to the Base URL or below it, and must not get the token. */
	| { kind: 'foreignAddress'; address: string }
	/** A request by a proxy that a workflow names, which must not get the token. */
	| { kind: 'proxy' }
	/** The log-in failed; the request itself was not sent, or answered with 401. */
	| { kind: 'login'; cause: RequestFailure };

export type FailureOf<Kind extends Failure['kind']> = Extract<Failure, { kind: Kind }>;

/** The ways in which a single request can fail, a log-in too. */
export type RequestFailure = Exclude<Failure, { kind: 'login' | 'endlessList' }>;

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

/** What failed at last: of a log-in that failed, why it did. */
export function rootCauseOf(failure: Failure): Exclude<Failure, { kind: 'login' }> {
	return failure.kind === 'login' ? failure.cause : failure;
}

/** A failure as a run is told of it that didn't meet it itself: without the service's words to others. */
export function asOfOthers(failure: Failure): Failure {
	if (failure.kind === 'login') return { kind: 'login', cause: withoutWords(failure.cause) };
	return withoutWords(failure);
}

function withoutWords<Cause extends Exclude<Failure, { kind: 'login' }>>(cause: Cause) {
	if (cause.kind !== 'status') return cause;
	return { ...cause, text: undefined, ofOthers: true } as const;
}

/** System errors that come before a connection exists, whatever the call that reports them. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** n8n 1.x drops the code of such an error and writes this instead (n8n-workflow, COMMON_ERRORS). */
const NEVER_CONNECTED_MESSAGES: Array<[pattern: RegExp, code: string]> = [
	[/service refused the connection/i, 'ECONNREFUSED'],
	[/DNS server returned an error/i, 'EAI_AGAIN'],
	[/incorrect host \(domain\) value/i, 'ENOTFOUND'],
];

/** Node.js's message if no connection was made, with the address or the name that it tried. */
const NEVER_CONNECTED_TEXT = /^(?:connect|getaddrinfo) (E[A-Z_]+)(?: (\S+))?/;

/**
 * OpenSSL's messages for a failed handshake. EPROTO with "write" means that the request was still waiting for the
 * handshake; without it, or with another reason, something may have been sent.
 */
const HANDSHAKE =
	/\bwrite EPROTO\b.*?(wrong version number|packet length too long|unsupported protocol|unknown protocol|handshake failure|alert protocol version|unrecognized name|no protocols available|no shared cipher|http request)/is;

/** What n8n says where its administrator has not allowed an address (@n8n/backend-network, SsrfBlocked…Error). */
const BLOCKED = /^The request was blocked because .*\brestricted\b.*/;

const CERTIFICATE =
	/\b(CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate has expired|certificate's altnames)/;

/** The failure behind whatever a request with the credential threw: that of its log-in, or its own. */
export function failureFromError(error: unknown): Failure {
	return ownFailureOf(error) ?? requestFailureFromError(error);
}

/**
 * The failure behind an error that was thrown before the request was sent: if it isn't the credential's, it is n8n's.
 *
 * @param redact takes the secrets out of a text
 */
export function failureBeforeSending(error: unknown, redact: (text: string) => string): Failure {
	const own = ownFailureOf(error);
	if (own !== undefined) return own;
	const failure = requestFailureFromError(error);
	if (failure.kind === 'cancelled') return { kind: 'cancelled', sent: false };
	return n8nFailureOf(error, redact);
}

/** The failure of n8n itself, in its own words. @param redact takes the secrets out of a text */
export function n8nFailureOf(
	error: unknown,
	redact = (text: string) => text,
): FailureOf<'n8nFailed'> {
	const reason = error instanceof Error ? error.message : String(error);
	return { kind: 'n8nFailed', reason: redact(reason).slice(0, 200) };
}

/** The failure that this node's credential has put into an error, or into one that n8n has wrapped. */
function ownFailureOf(error: unknown): Failure | undefined {
	for (const link of causesOf(error)) {
		const failure = isJsonObject(link.context) ? link.context.failure : undefined;
		if (isOwnFailure(failure)) return failure;
	}
	return undefined;
}

/**
 * The failure behind whatever n8n's request helper threw.
 *
 * n8n wraps errors in a NodeApiError: from 2.x the original is its `cause`, in 1.x only texts remain, with
 * the system's own ("connect ECONNREFUSED 127.0.0.1:80") among its `messages`. Both are read. Whatever is not
 * recognised counts as a broken connection, after which a create is not sent again.
 */
export function requestFailureFromError(error: unknown): RequestFailure {
	const chain = causesOf(error);
	const codes = chain.map((link) => link.code).filter((code) => typeof code === 'string');
	const texts = chain.flatMap(textsOf);
	const says = (pattern: RegExp) => matchIn([...codes, ...texts], pattern);

	if (says(/\bERR_CANCELED\b|^canceled$/)) return { kind: 'cancelled', sent: true };

	const blocked = says(BLOCKED);
	if (blocked) return { kind: 'blocked', reason: blocked[0] };

	const certificate = says(CERTIFICATE);
	if (certificate) return { kind: 'certificate', code: certificate[0] };

	const handshake = says(HANDSHAKE);
	if (handshake) return { kind: 'tls', code: `EPROTO, ${handshake[1]}` };

	const tried = says(NEVER_CONNECTED_TEXT);
	const neverConnected =
		codes.find((code) => NEVER_CONNECTED.includes(code)) ??
		chain.find((link) => link.syscall === 'connect' || link.syscall === 'getaddrinfo')?.code ??
		tried?.[1] ??
		NEVER_CONNECTED_MESSAGES.find(([pattern]) => says(pattern))?.[1];
	if (typeof neverConnected === 'string') {
		return { kind: 'unreachable', code: neverConnected, address: tried?.[2] };
	}

	if (
		says(/^timeout of \d+\s?ms exceeded$|^timeout exceeded$|\bETIMEDOUT\b|connection timed out/)
	) {
		return { kind: 'timeout' };
	}
	if (chain.some(isUnauthorized)) {
		return { kind: 'status', status: 401, text: undefined, retryAfter: undefined };
	}
	return { kind: 'broken', code: codes[0] ?? texts[0]?.slice(0, 80) ?? 'unknown' };
}

/** The match in the first text that has one. */
function matchIn(texts: readonly string[], pattern: RegExp): RegExpExecArray | undefined {
	for (const text of texts) {
		const match = pattern.exec(text);
		if (match !== null) return match;
	}
	return undefined;
}

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

function textsOf(link: JsonObject): string[] {
	const messages = Array.isArray(link.messages) ? link.messages : [];
	return [link.message, ...messages].filter((text): text is string => typeof text === 'string');
}

function isUnauthorized({ httpCode, response }: JsonObject): boolean {
	return httpCode === '401' || (isJsonObject(response) && response.status === 401);
}
