import type { Failure, FailureOf } from './failure';
import type { About, ErrorTexts } from './statusTexts';
import { PROXIES, textsOfStatus, truncate } from './statusTexts';

/** Milliseconds that a login may take. A node with a shorter Timeout doesn't wait as long. */
export const LOGIN_TIMEOUT = 60_000;

/** What an error with this failure says. */
export function explain(failure: Failure, about: About = {}): ErrorTexts {
	const { message, advice, detail } = textsOf(failure, about);
	const said = failure.kind === 'status' ? wordsOf(failure, about) : {};
	const expired = failure.hasExpired && 'The login seems to have expired and was renewed.';
	return {
		message,
		advice,
		...said,
		detail: [detail, said.detail, expired].filter(Boolean).join(' '),
	};
}

/** What the service said with a status. About a refused login, it may say which part is wrong: that isn't shown. */
function wordsOf(
	{ status, text, note = 'The service gave no reason', ofLogin }: FailureOf<'status'>,
	{ baseUrl = '' }: About,
): Partial<ErrorTexts> {
	if (ofLogin === true && status < 500) {
		return { detail: `The login at ${baseUrl} was answered with HTTP ${status}.` };
	}
	if (text === undefined) return { detail: `${note} (HTTP ${status}).` };
	return { reason: `The service says: "${text}" (HTTP ${status}).` };
}

const BASE_URL_PROBLEMS: Record<FailureOf<'baseUrl'>['problem'], string> = {
	empty: 'is empty: enter the address of the service',
	notAnAddress: 'must be an address such as https://jobs.example.com',
	otherScheme: 'must start with https:// or http://',
	holdsUser: 'must not contain a user name or a password',
	holdsQuery: 'must not contain ? or #: remove it and what follows',
};

function textsOf(failure: Failure, about: About): ErrorTexts {
	const { baseUrl = '', timeout = 0 } = about;
	const service = truncate(baseUrl);
	switch (failure.kind) {
		case 'baseUrl':
			return {
				message: `The credential's 'Base URL' ${BASE_URL_PROBLEMS[failure.problem]}`,
				advice:
					failure.corrected === undefined
						? 'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.'
						: `Open the credential and enter ${failure.corrected}.`,
			};
		case 'unreachable':
			return {
				message: `The service at ${service} can't be reached`,
				advice: adviceOfUnreachable(failure, baseUrl),
				detail: `No connection to ${failure.address} was possible (${failure.code}).`,
			};
		case 'blocked':
			return {
				message: `n8n doesn't allow requests to ${service}`,
				advice:
					"Ask the administrator of this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
				detail: n8nSays(failure.reason),
			};
		case 'tls':
			return {
				message: `No secure connection to ${service} is possible`,
				advice:
					"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask the administrator of the service which versions of TLS it offers.",
				detail: endedUnsent(failure.code),
			};
		case 'certificate':
			return {
				message: `The certificate of ${service} isn't trusted`,
				advice:
					"Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
				detail: endedUnsent(failure.code),
			};
		case 'timeout':
			if (failure.ofLogin === true) {
				return {
					message: `The service didn't answer the login within ${inSeconds(failure.after ?? LOGIN_TIMEOUT)}`,
					advice:
						"Try again later, or allow more time with the option 'Timeout' if it is shorter than a minute.",
				};
			}
			return {
				message: `The service didn't answer within ${inSeconds(failure.after ?? timeout)}`,
				advice: "Try again later, or allow more time with the option 'Timeout'.",
			};
		case 'broken':
			return {
				message: 'The connection broke before the answer was complete',
				advice:
					"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
				detail: `The service, a proxy or the network ended the connection (${failure.code}).`,
			};
		case 'cancelled':
			return {
				message: 'The execution was cancelled',
				advice: '',
			};
		case 'n8nFailed':
			return {
				message: "n8n couldn't send the request",
				advice: "Try again later. If that doesn't help, open the credential in n8n and save it.",
				detail: n8nSays(failure.reason),
			};
		case 'redirect':
			return {
				message: `The service redirects to ${truncate(failure.location)}`,
				advice:
					"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
				detail: `The redirect is to ${failure.location} (HTTP ${failure.status}). Redirects aren't followed, so that the token stays with the service.`,
			};
		case 'status':
			return textsOfStatus(failure, about);
		case 'unexpectedResponse':
			return {
				message: `The service answered with ${failure.what} instead of ${failure.expected}`,
				advice:
					"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.",
				detail: `It sent ${failure.received} (HTTP ${failure.status}).`,
			};
		case 'endlessList':
			return {
				message: 'The list of work clusters never ends',
				advice:
					"Raise 'Page Size' if it is small. Otherwise, report this to the administrator of the service. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
				detail: 'A page token came twice, or there are more than a thousand pages.',
			};
		case 'cutList':
			return {
				message: 'The list of work clusters is cut off',
				advice:
					"Ask the administrator of the service how it names the next page: the node reads 'metadata.continue'. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
				detail: `The last page says that ${failure.remaining} more follow, but not where.`,
			};
		case 'foreignAddress':
			return {
				message: `This credential is for ${service} only`,
				advice:
					"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
				detail: `Nothing was sent: ${failure.address} must not get the token.`,
			};
	}
}

function adviceOfUnreachable({ code, address }: FailureOf<'unreachable'>, baseUrl: string): string {
	const port = /:\d+$/.exec(address)?.[0] ?? '';
	const isProxy = port !== '' && !`${baseUrl}/`.includes(`${port}/`) && !/:(80|443)$/.test(port);
	const what = isProxy ? `the service or its proxy (${PROXIES})` : 'the service';
	return code === 'ENOTFOUND'
		? "Check the 'Base URL' in the credential: this n8n knows no host of that name."
		: `Check the 'Base URL' in the credential, and that ${what} is running and can be reached from this n8n.`;
}

const endedUnsent = (code: string) => `The connection ended before anything was sent (${code}).`;
const n8nSays = (reason: string) => `Nothing was sent. n8n says: "${reason}".`;

function inSeconds(milliseconds: number): string {
	return milliseconds < 100
		? `${milliseconds} ms`
		: `${Number((milliseconds / 1000).toFixed(1))} s`;
}
