import { isJsonObject, type JsonObject } from '../../json';
import { MAX, present, truncate } from '../../texts';
import type { Condition } from '../policy';
import { cancelled, type Failure, failureOf, timedOut } from './failure';
import type { Secrets } from './secrets';
import { PROXIES } from './statuses';

/** The number of characters of an error's text that are searched. In a longer text, a pattern could take seconds. */
const MAX_TEXT = 1_000;

/**
 * The failures that keep a request from being sent, by patterns of error codes and texts. n8n 1.x keeps no codes, so
 * the texts that it shows instead (COMMON_ERRORS) are matched, too. EPROTO with "write" means that the request was still
 * waiting for the TLS handshake: what comes later fails a read.
 */
const unsentTo = (
	service: string,
): Array<[pattern: RegExp, condition: Condition, title: string, advice: string]> => [
	[
		/^proxy connection ended before receiving CONNECT/i,
		'unreachable',
		"The proxy between n8n and the service can't be reached, or refuses the connection",
		`Ask the administrator of this n8n to check ${PROXIES}, and whether the proxy allows ${service}.`,
	],
	[
		// n8n doesn't allow the address, by a field of the credential or by the setting of its administrator
		// (credential-domain-restrictions.js and @n8n/backend-network, SsrfBlocked…Error).
		/^Domain not allowed\b|^No allowed domains specified\b|^The request was blocked because .*\brestricted\b/,
		'noOutcome',
		`n8n doesn't allow requests to ${service}`,
		"Add the service's host to 'Allowed Domains' in the credential, below 'Allowed HTTP Request Domains', or ask the administrator of this n8n to allow its address (N8N_SSRF_ALLOWED_HOSTNAMES).",
	],
	[
		/\b(?:CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate has expired|certificate is not yet valid|certificate's altnames)/,
		'noOutcome',
		`The certificate of ${service} isn't trusted`,
		"Have the certificate renewed if it has expired, use a host name that it is for as the 'Base URL', or make n8n trust its issuer (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
	],
	[
		/\bwrite EPROTO\b/,
		'noOutcome',
		`No secure connection to ${service} is possible`,
		"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask the administrator of the service which versions of TLS it offers.",
	],
	[
		/^(?:connect|getaddrinfo) E[A-Z_]+|^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$|before secure TLS connection was established|service refused the connection|DNS server returned an error|incorrect host \(domain\) value/i,
		'unreachable',
		`The service at ${service} can't be reached`,
		`Check the 'Base URL' in the credential, and that the service is running and can be reached from this n8n. If n8n uses a proxy (${PROXIES}), check that, too.`,
	],
];

const CANCEL = /\bERR_CANCELED\b|^canceled$/;
const TIMEOUT = /^timeout (?:of \d+\s?ms )?exceeded$|\bETIMEDOUT\b|connection timed out/;

/**
 * Returns the failure behind an error: the failure of this node's own error if n8n has wrapped one, or else that of the
 * request. An error that isn't recognised counts as a broken connection, after which the service may have acted.
 *
 * @param secrets the secrets of the account, which the failure must not contain
 * @param request the request that n8n was to send, with its address as `addressOf` returns it. Undefined if n8n failed
 * before it had a request to send
 */
export function failureFromError(
	error: unknown,
	secrets?: Pick<Secrets, 'redact'>,
	request?: { address: string; baseUrl: string; timeoutMs: number },
): Failure {
	const chain = causesOf(error);
	const own = chain.map(({ context }) => isJsonObject(context) && context.failure).find(isFailure);
	if (own !== undefined) return own;
	// In n8n 2.x, the system error is the innermost cause. In n8n 1.x, only its text remains, among `messages`.
	const values = [...chain]
		.reverse()
		.flatMap(({ message, messages, code, syscall }) =>
			[messages, message, syscall && `${String(syscall)} ${String(code)}`, code].flat(),
		);
	const texts = [...values, error].filter(isText).map((text) => text.slice(0, 2 * MAX_TEXT));
	const find = (pattern: RegExp) => texts.find((text) => pattern.test(text.slice(0, MAX_TEXT)));
	const shown = (text: unknown = 'unknown error') => {
		const redacted = secrets?.redact(String(text)) ?? String(text);
		return truncate(redacted.replace(/\s+/g, ' ').trim(), MAX.saidByN8n);
	};
	const n8nSays = (text?: string) => `n8n says: "${shown(text)}".`;
	if (find(CANCEL) !== undefined) return cancelled({ sent: request !== undefined });
	if (request === undefined) {
		// n8n's errors about an expression that fails, such as one with a blocked $env, have no description.
		const { message, description } = chain[0] ?? {};
		const advice =
			"Choose a credential in this node, or open the one that is chosen and save it again. If it contains expressions, correct them; whether they may use $env is decided by the administrator of this n8n (N8N_BLOCK_ENV_ACCESS_IN_NODE). If that doesn't help, try again later.";
		return failureOf({
			condition: 'n8nFailed',
			title: present(["n8n can't use this node's credential", shown(message)]).join(': '),
			advice: present([isText(description) && shown(description), advice]).join(' '),
		});
	}
	const { address, baseUrl, timeoutMs } = request;
	for (const [pattern, condition, title, advice] of unsentTo(truncate(baseUrl))) {
		const text = find(pattern);
		if (text === undefined) continue;
		// n8n's words about a proxy may contain its name, which is a part of n8n's settings.
		const isOfProxy = /^proxy/i.test(text);
		const facts = [isOfProxy ? 'Nothing was sent.' : `Nothing was sent. ${n8nSays(text)}`];
		return failureOf({ condition, title, advice, facts, isAboutAllItems: true });
	}
	if (find(TIMEOUT) !== undefined) return timedOut(timeoutMs, address);
	return failureOf({
		condition: 'broken',
		mayHaveActed: true,
		title: 'The connection broke before the answer was complete',
		advice:
			"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
		facts: [`${n8nSays(texts[0])} ${address} was sent.`],
	});
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isFailure = (value: unknown): value is Failure =>
	isJsonObject(value) && 'condition' in value && Array.isArray(value.facts);

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
