import { isRecord } from './shapes';

/** The ways in which a call can fail. Plain data, so that it survives n8n's wrapping of errors. */
export type Failure =
	/** The Base URL of the credential can't be used. */
	| { kind: 'baseUrl'; problem: string }
	/** The connection was never made: the service can't have seen the request. */
	| { kind: 'unreachable'; code: string }
	/** The certificate isn't trusted: the connection ended before the request was sent. */
	| { kind: 'certificate'; code: string }
	| { kind: 'timeout' }
	/** The connection broke after it was made. */
	| { kind: 'broken'; code: string }
	/** The execution was cancelled while the request was under way. */
	| { kind: 'cancelled' }
	/** The answer points to another address; undefined where it does not say which. */
	| { kind: 'redirect'; status: number; location: string | undefined }
	/** An HTTP status that isn't success; the service's own words and its Retry-After (ms), where it sent any. */
	| { kind: 'status'; status: number; text: string | undefined; retryAfter: number | undefined }
	/** An answer that isn't what the interface shows. */
	| { kind: 'unexpectedAnswer'; status: number; came: string; wanted: string }
	/** A list that came back to a page it had been at: it would have no end. */
	| { kind: 'endlessList' }
	/** A request to another host than the credential's, which must not get the token. */
	| { kind: 'foreignHost'; host: string }
	/** The log-in failed; the request itself was not sent, or answered with 401. */
	| { kind: 'login'; because: LoginFailure };

/** The ways in which a log-in can fail. */
export type LoginFailure = Exclude<Failure, { kind: 'login' | 'endlessList' }>;

/** System errors that come before a connection exists, whatever the call that reports them. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** How n8n 1.x words such an error, having dropped its code (n8n-workflow, COMMON_ERRORS). */
const NEVER_CONNECTED_IN_WORDS = [
	/service refused the connection/i,
	/DNS server returned an error/i,
	/incorrect host \(domain\) value/i,
];

const CERTIFICATE =
	/\b(CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate has expired|certificate's altnames)/;

/**
 * The failure behind whatever a request with the credential threw: what came of its log-in, or of the request
 * itself.
 */
export function failureOf(error: unknown): Failure {
	for (const link of causesOf(error)) {
		if (isRecord(link.context) && isFailure(link.context.failure)) return link.context.failure;
	}
	return requestFailureOf(error);
}

/**
 * The failure behind whatever n8n's request helper threw.
 *
 * n8n wraps errors in a NodeApiError: from 2.x the original is its `cause`, in 1.x only texts remain, with
 * the system's own ("connect ECONNREFUSED 127.0.0.1:80") among its `messages`. Both are read. What can't be
 * told apart is a broken connection: the reading that never sends a create twice.
 */
export function requestFailureOf(error: unknown): LoginFailure {
	const chain = causesOf(error);
	const codes = chain.map((link) => link.code).filter((code) => typeof code === 'string');
	const texts = chain.flatMap(textsOf);
	const says = (pattern: RegExp) => matchIn([...codes, ...texts], pattern);

	if (says(/\bERR_CANCELED\b|^canceled$/)) return { kind: 'cancelled' };

	const certificate = says(CERTIFICATE);
	if (certificate) return { kind: 'certificate', code: certificate[0] };

	const neverConnected =
		codes.find((code) => NEVER_CONNECTED.includes(code)) ??
		chain.find((link) => link.syscall === 'connect' || link.syscall === 'getaddrinfo')?.code ??
		says(/^(?:connect|getaddrinfo) (E[A-Z_]+)/)?.[1] ??
		(NEVER_CONNECTED_IN_WORDS.some((words) => says(words)) ? 'no connection' : undefined);
	if (typeof neverConnected === 'string') return { kind: 'unreachable', code: neverConnected };

	if (
		says(/^timeout of \d+\s?ms exceeded$|^timeout exceeded$|\bETIMEDOUT\b|connection timed out/)
	) {
		return { kind: 'timeout' };
	}
	if (chain.some((link) => statusOf(link) === 401)) {
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

type ErrorRecord = Record<string, unknown>;

/** An error and the errors behind it, outermost first, each seen once. */
function causesOf(error: unknown): ErrorRecord[] {
	const chain: ErrorRecord[] = [];
	const waiting: unknown[] = [error];
	while (waiting.length > 0 && chain.length < 10) {
		const next = waiting.shift();
		if (!isRecord(next) || chain.includes(next)) continue;
		chain.push(next);
		// A refused connection to a name with two addresses is an AggregateError without words of its own.
		waiting.push(next.cause, ...(Array.isArray(next.errors) ? next.errors : []));
	}
	return chain;
}

function textsOf(link: ErrorRecord): string[] {
	const messages = Array.isArray(link.messages) ? link.messages : [];
	return [link.message, ...messages].filter((text): text is string => typeof text === 'string');
}

function statusOf(link: ErrorRecord): number | undefined {
	if (link.httpCode === '401') return 401;
	const response = link.response;
	return isRecord(response) && typeof response.status === 'number' ? response.status : undefined;
}

function isFailure(value: unknown): value is Failure {
	return isRecord(value) && typeof value.kind === 'string';
}
