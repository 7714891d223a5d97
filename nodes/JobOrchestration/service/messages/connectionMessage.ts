import type { Failure, FailureOf } from '../request/failure';
import type { ErrorMessage } from './message';
import { inSeconds, truncate } from './message';

/** What can go wrong with every request alike, whatever it asks for. */
export type ConnectionFailure = Exclude<
	Failure,
	{ kind: 'login' | 'status' | 'unexpectedResponse' | 'endlessList' }
>;

/**
 * @param baseUrl the address of the service, as the credential has it
 * @param timeout of one request, in milliseconds
 */
export function explainConnection(
	failure: ConnectionFailure,
	baseUrl: string,
	timeout: number,
): ErrorMessage {
	switch (failure.kind) {
		case 'baseUrl':
			return explainBaseUrl(failure);
		case 'unreachable':
			return explainUnreachable(failure, baseUrl);
		case 'blocked':
			return {
				message: `n8n doesn't allow requests to ${truncate(baseUrl)}`,
				advice:
					"Ask whoever runs this n8n to allow the service's address (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES), or to take it off N8N_SSRF_BLOCKED_HOSTNAMES.",
				detail: `Nothing was sent. n8n says: "${failure.reason}".`,
			};
		case 'tls':
			return {
				message: `No secure connection to ${truncate(baseUrl)} is possible`,
				advice:
					"Check whether the 'Base URL' in the credential should start with http:// instead of https://. If https:// is right, ask whoever runs the service which versions of TLS it offers.",
				detail: `The connection ended before anything was sent (${failure.code}).`,
			};
		case 'certificate':
			return {
				message: `The certificate of ${truncate(baseUrl)} isn't trusted`,
				advice:
					"Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.",
				detail: `The connection ended before anything was sent (${failure.code}).`,
			};
		case 'timeout':
			return {
				message: `The service didn't answer within ${inSeconds(timeout)}`,
				advice: "Try again later, or allow more time with the option 'Timeout'.",
			};
		case 'broken':
			return {
				message: 'The connection broke before the answer was complete',
				advice: 'Try again later.',
				detail: `The service, a proxy or the network ended the connection (${failure.code}).`,
			};
		case 'cancelled':
			return { message: 'The execution was cancelled', advice: '' };
		case 'n8nFailed':
			return {
				message: "n8n couldn't send the request",
				advice: "Try again later. If that doesn't help, open the credential in n8n and save it.",
				detail: `Nothing was sent. n8n says: "${failure.reason}".`,
			};
		case 'n8nTimeout':
			return {
				message: `n8n's store of credentials didn't answer within ${inSeconds(failure.after)}`,
				advice:
					"Try again later, or allow more time with the option 'Timeout'. If that doesn't help, check n8n's database.",
				detail: 'Nothing was sent.',
			};
		case 'redirect':
			return explainRedirect(failure);
		case 'foreignAddress':
			return {
				message: `This credential is for ${truncate(baseUrl)} only`,
				advice:
					"Use an address that begins with the credential's 'Base URL', or another credential.",
				detail: `The request was for ${failure.address}, which must not get the token.`,
			};
		case 'proxy':
			return {
				message: "This credential can't be used with the node's own proxy",
				advice:
					"Remove the option 'Proxy' from the node. n8n's own proxy settings (HTTP_PROXY, HTTPS_PROXY) apply without it.",
				detail: 'Nothing was sent: a proxy that a workflow names must not get the token.',
			};
	}
}

/** What an unusable Base URL says: the credential's test shows nothing but the title. */
export function explainBaseUrl({ problem }: Pick<FailureOf<'baseUrl'>, 'problem'>): ErrorMessage {
	return {
		message: `The credential's 'Base URL' ${whatToDoAbout(problem)}`,
		advice:
			'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.',
	};
}

function whatToDoAbout(problem: FailureOf<'baseUrl'>['problem']): string {
	switch (problem) {
		case 'empty':
			return 'is empty: enter the address of the service';
		case 'notAnAddress':
			return 'must be an address such as https://jobs.example.com';
		case 'otherScheme':
			return 'must start with https:// or http://';
		case 'holdsUser':
			return 'must not contain a user name or a password';
		case 'holdsQuery':
			return 'must not contain ? or #: remove it and what follows';
	}
}

function explainUnreachable(
	{ code, address }: FailureOf<'unreachable'>,
	baseUrl: string,
): ErrorMessage {
	const detail = whyUnreachable(code, address);
	if (address !== undefined && !isAddressOf(baseUrl, address)) {
		return {
			message: `The proxy at ${truncate(address)} can't be reached`,
			advice:
				"n8n sends its requests through this proxy. Check n8n's settings HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and that the proxy is running.",
			detail,
		};
	}
	return {
		message: `The service at ${truncate(baseUrl)} can't be reached`,
		advice: isUnknownHost(code)
			? "Check the 'Base URL' in the credential for a typo, and that this n8n can look up the name."
			: "Check the host and the port of the 'Base URL' in the credential, and that the service is running and can be reached from this n8n.",
		detail,
	};
}

function whyUnreachable(code: string, address?: string): string {
	if (isUnknownHost(code)) return `No host named ${address ?? 'like this'} was found (${code}).`;
	if (code === 'ECONNREFUSED') return `${address ?? 'The host'} refused the connection (${code}).`;
	return `No connection${address === undefined ? '' : ` to ${address}`} was possible (${code}).`;
}

/**
 * Whether an address that can't be reached is that of a Base URL: else it is a proxy's. A name that wasn't found
 * has no port; of a connection only the port can be compared, as the host has become an IP address by then.
 */
function isAddressOf(baseUrl: string, address: string): boolean {
	const { hostname, port, protocol } = new URL(baseUrl);
	const ownPort = port || (protocol === 'https:' ? '443' : '80');
	const theirPort = /:(\d+)$/.exec(address)?.[1];
	return theirPort === undefined ? address === hostname : theirPort === ownPort;
}

function explainRedirect({ status, location }: FailureOf<'redirect'>): ErrorMessage {
	const notFollowed = "Redirects aren't followed, so that the token stays with the service.";
	if (location === undefined) {
		return {
			message: 'The service redirects without saying where to',
			advice:
				"Check the 'Base URL' in the credential, or ask whoever runs the service for its address.",
			detail: `It answered with HTTP ${status}. ${notFollowed}`,
		};
	}
	return {
		message: `The service redirects to ${truncate(location)}`,
		advice:
			"If this is the service's new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
		detail: `The address is ${location} (HTTP ${status}). ${notFollowed}`,
	};
}

/** How Node.js names what a name look-up reports. */
const isUnknownHost = (code: string) => code === 'ENOTFOUND' || code === 'EAI_AGAIN';
