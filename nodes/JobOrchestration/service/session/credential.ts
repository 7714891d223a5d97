import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestHelper,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import type { ServiceRequest } from '../request';
import type { Attempt } from './attempt';
import { type HttpOptions, signed } from './login';
import { errorOf, newTokenForOtherNode, noTokenError, signedForOtherNode } from './otherNodes';
import type { Session } from './session';

/** The name of the credential type, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/**
 * Returns the signal that aborts a request after it was sent: the execution's cancel signal if the request only reads,
 * otherwise undefined. A drop-down has no cancel signal.
 */
export function cancelOf(context: N8nContext, { method }: ServiceRequest<unknown>) {
	const canBeCancelled = method === 'GET' && 'getExecutionCancelSignal' in context;
	return canBeCancelled ? context.getExecutionCancelSignal() : undefined;
}

/**
 * This node's attempts, keyed by the credentials object that is made for each of them. n8n passes nothing else of an
 * attempt to the credential.
 */
export const attempts = new WeakMap<object, { session: Session; attempt: Attempt }>();

/**
 * Returns the token for n8n to store in the credential, or an empty object if the token must not be replaced. n8n calls
 * this function if no token is stored, after a 401, and after any failed request of its HTTP Request node.
 *
 * @throws ServiceError if no token could be obtained, or a field of the credential can't be used
 */
export async function newToken(
	this: IHttpRequestHelper,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const own = attempts.get(credentials);
	if (own === undefined) return await newTokenForOtherNode(this.helpers, credentials);
	const { session, attempt } = own;
	attempt.waitForToken();
	const result = await session.getToken(this.helpers, attempt);
	if ('failure' in result) throw errorOf({ ...result.failure }, session.account);
	attempt.token = result.token;
	// n8n up to 2.20 stores this whole object with the token. Outdated values would undo a later edit.
	Object.assign(credentials, await attempt.options.readAgain());
	return { accessToken: session.tokens.toStored(result.token) };
}

/**
 * Adds the token to a request.
 *
 * @throws ServiceError if the request must not be sent. If the error has status code 401, n8n asks for a token first
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const own = attempts.get(credentials);
	if (own === undefined) return signedForOtherNode(credentials, options);
	// The attempt's session is used, since the credentials may belong to another account after an edit.
	const { session, attempt } = own;
	attempt.waitForToken();
	if (attempt.signal.aborted) throw errorOf({ kind: 'cancelled', sent: false }, session.account);
	const stored = session.tokens.fromStored(credentials.accessToken);
	if (stored === undefined) throw noTokenError();
	const token = session.tokens.newest ?? stored;
	attempt.leaveWith(token);
	// Replaces the execution's cancel signal, which n8n has set here and which would cut off the response to a create.
	return { ...signed(options, session.account, token), abortSignal: attempt.signal };
}
