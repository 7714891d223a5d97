import type {
	ICredentialDataDecryptedObject,
	IHttpRequestHelper,
	IHttpRequestOptions,
} from 'n8n-workflow';

import { describe, failureIn, isHtml, readAnswer } from './answer';
import { isBelow, originOf, readBaseUrl } from './baseUrl';
import { explainConnection } from './explain/connection';
import { explainLogin, LOGIN_TIMEOUT } from './explain/login';
import type { LoginFailure } from './failure';
import { requestFailureOf } from './failure';
import { ServiceError } from './serviceError';
import { isRecord } from './shapes';
import type { Identity } from './tokens';
import { tokenFor } from './tokens';

/**
 * A token for a credential that has none, or whose token was rejected: from a log-in, or from the one that
 * others have just made (see tokens.ts).
 *
 * @throws ServiceError whose failure is a `login`
 */
export async function freshToken(
	helpers: IHttpRequestHelper['helpers'],
	credentials: ICredentialDataDecryptedObject,
): Promise<string> {
	const identity = {
		baseUrl: readBaseUrl(credentials.baseUrl),
		userName: String(credentials.userName ?? ''),
		password: String(credentials.password ?? ''),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
	return await tokenFor(identity, credentials, async () => await login(helpers, identity));
}

/** `POST /oauth/login`. The answer's refresh token has no call to be used with; the unit of its expiry isn't stated. */
async function login(
	helpers: IHttpRequestHelper['helpers'],
	{ baseUrl, userName, password, ignoreSslIssues }: Identity,
): Promise<string> {
	const fail = (because: LoginFailure) => {
		const { message, detail, advice } = explainLogin(because, baseUrl);
		// The test of a credential shows nothing but the message.
		const words = { message: [message, advice].filter(Boolean).join('. '), detail, advice: '' };
		return new ServiceError({ kind: 'login', because }, words);
	};

	let response: unknown;
	try {
		response = await helpers.httpRequest({
			method: 'POST',
			url: `${baseUrl}/oauth/login`,
			body: { userName, password, type: 'basic' },
			json: true,
			timeout: LOGIN_TIMEOUT,
			skipSslCertificateValidation: ignoreSslIssues,
			disableFollowRedirect: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		});
	} catch (error) {
		throw fail(requestFailureOf(error));
	}

	const answer = readAnswer(response);
	const failure = failureIn(answer, [password]);
	if (failure !== undefined) throw fail(failure);

	const token = isRecord(answer.body) ? answer.body.access_token : undefined;
	if (typeof token !== 'string' || token === '') {
		const came = describeLogin(answer.body, password);
		throw fail({ kind: 'unexpectedAnswer', status: answer.status, came, wanted: 'a token' });
	}
	return token;
}

/**
 * What came in place of a token. A bare text is not repeated, nor is one in an envelope: it may be a token.
 */
function describeLogin(body: unknown, password: string): string {
	if (typeof body === 'string' && body !== '' && !isHtml(body)) return 'a text';
	if (!isRecord(body)) return describe(body, [password]);
	const shown = { ...body };
	for (const envelope of ['data', 'body']) {
		if (typeof shown[envelope] === 'string') shown[envelope] = null;
	}
	return describe(shown, [password]);
}

/** n8n's HTTP Request node sends options of an older shape, with names of its own. */
type RequestOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

/**
 * A request with the credential's token, which stays on the credential's host: another host is refused, and
 * redirects are not followed. How the token is presented is not in the interface; its type is "Bearer".
 *
 * @throws ServiceError where the request goes elsewhere
 */
export function withToken(
	credentials: ICredentialDataDecryptedObject,
	request: RequestOptions,
): IHttpRequestOptions {
	const baseUrl = readBaseUrl(credentials.baseUrl);
	const address = request.url ?? request.uri;
	if (!isBelow(baseUrl, address)) {
		const origin = originOf(address, request.baseURL ?? baseUrl);
		if (origin !== new URL(baseUrl).origin) {
			const failure = { kind: 'foreignHost', host: origin ?? 'an address that is none' } as const;
			throw new ServiceError(failure, explainConnection(failure, baseUrl, LOGIN_TIMEOUT));
		}
	}
	const authorized: RequestOptions = {
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${String(credentials.accessToken)}` },
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
	};
	if (credentials.ignoreSslIssues === true) {
		authorized.skipSslCertificateValidation = true;
		authorized.rejectUnauthorized = false;
	}
	return authorized;
}
