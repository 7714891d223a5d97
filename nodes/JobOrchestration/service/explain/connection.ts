import type { Failure } from '../failure';
import type { Words } from './words';

/** What can go wrong with every request alike, whatever it asks for. */
export type ConnectionFailure = Exclude<
	Failure,
	{ kind: 'login' | 'status' | 'unexpectedAnswer' | 'endlessList' }
>;

/**
 * @param baseUrl the address of the service, as the credential has it
 * @param timeout of one request, in milliseconds
 */
export function explainConnection(
	failure: ConnectionFailure,
	baseUrl: string,
	timeout: number,
): Words {
	switch (failure.kind) {
		case 'baseUrl':
			return explainBaseUrl(failure);
		case 'unreachable':
			return isUnknownHost(failure.code)
				? {
						message: `The service at ${baseUrl} can't be reached`,
						detail: `No host of this name is known (${failure.code}).`,
						advice:
							'Check the Base URL in the credential for a typo, and that this n8n can look the name up.',
					}
				: {
						message: `The service at ${baseUrl} can't be reached`,
						detail: `No connection could be made (${failure.code}).`,
						advice:
							'Check the host and the port of the Base URL in the credential, and that the service is running and can be reached from this n8n.',
					};
		case 'certificate':
			return {
				message: `The certificate of ${baseUrl} isn't trusted`,
				detail: `The connection was ended before anything was sent (${failure.code}).`,
				advice:
					'Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS). If you know the risk, switch on "Ignore SSL Issues (Insecure)" in the credential.',
			};
		case 'timeout':
			return {
				message: `The service at ${baseUrl} did not answer within ${inSeconds(timeout)}`,
				detail: 'It may be busy.',
				advice: 'Try again later, or allow more time with the option Timeout.',
			};
		case 'broken':
			return {
				message: `The connection to ${baseUrl} broke before the answer was complete`,
				detail: `Something between this n8n and the service ended it (${failure.code}): the service, a proxy or the network.`,
				advice: 'Try again later.',
			};
		case 'cancelled':
			return {
				message: 'The execution was cancelled',
				detail: `A request to ${baseUrl} was under way.`,
				advice: '',
			};
		case 'redirect':
			return {
				message: `The service at ${baseUrl} redirects to ${failure.location ?? 'an address that it does not name'}`,
				detail: "Redirects aren't followed, so that the token stays with the service.",
				advice:
					'If the address is right, enter it as the Base URL in the credential, up to the part before /api or /oauth.',
			};
		case 'foreignHost':
			return {
				message: `This credential is for ${baseUrl} only`,
				detail: `The request goes to ${failure.host}, which must not get the token.`,
				advice: "Use an address that begins with the credential's Base URL, or another credential.",
			};
	}
}

/** What an unusable Base URL says. */
export function explainBaseUrl({ problem }: { problem: string }): Words {
	return {
		message: `The Base URL of the credential ${problem}`,
		detail: '',
		advice:
			'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration. User name and password have fields of their own.',
	};
}

/** How Node.js names what a name look-up reports. */
const isUnknownHost = (code: string) => code === 'ENOTFOUND' || code === 'EAI_AGAIN';

/** Seconds as a person says them. */
const inSeconds = (milliseconds: number) => `${Number((milliseconds / 1000).toFixed(1))} s`;
