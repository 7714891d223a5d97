import { isJsonObject, type JsonObject } from '../../json';
import type { Failure } from './kinds';
import { ownFailures } from './problem';
import type { Secrets } from './secrets';

const CERTIFICATE =
	/\b(?<code>CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate has expired|certificate is not yet valid|certificate's altnames)/;

/**
 * Matches a failed TLS handshake, with the reason that OpenSSL gives. EPROTO with "write" means that the request was
 * still waiting for the handshake. An alert or a broken record that comes later fails a read, and has a code of its own
 * (ERR_SSL_...).
 */
const HANDSHAKE =
	/\bwrite EPROTO\b(?: \w+:error:\w+:[^:]*:[^:]*:(?:(?:tls|ssl)v\d+ )?(?<reason>[^:\n]+))?/;

/** The number of characters of an error's text that are searched. In a longer text, a pattern could take seconds. */
const MAX_TEXT = 1_000;

const unreachable = (code = '', address = 'the service'): Failure => ({
	...{ kind: 'unreachable', code, address },
});

/**
 * Patterns of error codes and texts, each with the failure that it stands for, made from the pattern's named groups.
 * The first match decides. n8n 1.x keeps no codes, so its texts (COMMON_ERRORS) are matched, too.
 */
const PATTERNS: Array<[RegExp, (found: Partial<Record<string, string>>) => Failure]> = [
	[/\bERR_CANCELED\b|^canceled$/, () => ({ kind: 'cancelled', sent: true })],
	// n8n throws this during the login (credential-domain-restrictions.js).
	[
		/^(?<reason>(?:Domain not allowed|No allowed domains specified)\b.*)/,
		({ reason = '' }) => ({ kind: 'notAllowed', reason }),
	],
	// n8n throws this if its administrator has not allowed an address (@n8n/backend-network, SsrfBlocked…Error).
	[
		/^(?<reason>The request was blocked because .*\brestricted\b.*)/,
		({ reason = '' }) => ({ kind: 'blocked', reason }),
	],
	[CERTIFICATE, ({ code = '' }) => ({ kind: 'certificate', code })],
	[HANDSHAKE, ({ reason }) => ({ kind: 'tls', code: reason ? `EPROTO, ${reason}` : 'EPROTO' })],
	[/before secure TLS connection was established/, () => unreachable('ECONNRESET')],
	[
		/^(?:connect|getaddrinfo) (?<code>E[A-Z_]+)(?: (?<address>\S+))?/,
		({ code, address }) => unreachable(code, address),
	],
	// These codes are reported before a connection exists, whichever system call reports them.
	[/^(?<code>ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/, ({ code }) => unreachable(code)],
	[/service refused the connection/i, () => unreachable('ECONNREFUSED')],
	[/DNS server returned an error/i, () => unreachable('EAI_AGAIN')],
	[/incorrect host \(domain\) value/i, () => unreachable('ENOTFOUND')],
	[
		/^timeout of \d+\s?ms exceeded$|^timeout exceeded$|\bETIMEDOUT\b|connection timed out/,
		() => ({ kind: 'timeout' }),
	],
];

const NO_SECRETS: Pick<Secrets, 'redact'> = { redact: (text) => text };

/**
 * Returns the failure behind an error: the failure of this node's own error if n8n has wrapped one, or else that of the
 * request.
 *
 * @param isUnsent whether the request was certainly not sent
 * @param secrets the secrets of the account, if they are known, which the failure must not contain
 */
export function failureFromError(
	error: unknown,
	{ isUnsent = false, secrets = NO_SECRETS } = {},
): Failure {
	const chain = causesOf(error);
	const own = chain
		.map(({ context }) => (isJsonObject(context) ? context.failure : undefined))
		.find((failure): failure is Failure => isJsonObject(failure) && ownFailures.has(failure));
	if (own !== undefined) return own;
	const failure = requestFailureIn(chain, secrets);
	if (!isUnsent || failure.kind === 'notAllowed') return failure;
	if (failure.kind === 'cancelled') return { ...failure, sent: false };
	const reason = error instanceof Error ? error.message : String(error);
	return { kind: 'n8nFailed', reason: secrets.redact(reason).slice(0, 200) };
}

/**
 * Returns the failure in an error of n8n's request helper. In n8n 2.x, the system error is the `cause` of a
 * NodeApiError. In n8n 1.x, only its text remains, among `messages`. An error that isn't recognised counts as a broken
 * connection.
 */
function requestFailureIn(chain: JsonObject[], secrets: Pick<Secrets, 'redact'>): Failure {
	const codes = chain.map(({ code }) => code).filter(isText);
	const messages = chain.flatMap(({ message, messages: more }) => [message, more].flat());
	const texts = messages.filter(isText).map((text) => text.slice(0, MAX_TEXT));
	const calls = chain.map(({ syscall, code }) => `${String(syscall)} ${String(code)}`);
	for (const [pattern, failureFrom] of PATTERNS) {
		for (const text of [...codes, ...texts, ...calls]) {
			const match = pattern.exec(text);
			if (match !== null) return failureFrom(match.groups ?? {});
		}
	}
	return { kind: 'broken', code: secrets.redact(codes[0] ?? texts[0] ?? 'unknown').slice(0, 80) };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns an error and the errors that caused it, the outermost first and each of them once. */
function causesOf(error: unknown): JsonObject[] {
	const chain: JsonObject[] = [];
	const waiting: unknown[] = [error];
	while (waiting.length > 0 && chain.length < 10) {
		const next = waiting.shift();
		if (!isJsonObject(next) || chain.includes(next)) continue;
		chain.push(next);
		// If a host name has two addresses, a refused connection is reported as an AggregateError without a message.
		waiting.push(next.cause, ...(Array.isArray(next.errors) ? next.errors : []));
	}
	return chain;
}
