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

/** The credential's name, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** What aborts a request that was sent: a cancel, if it only reads. A drop-down has no cancel. */
export function cancelOf(context: N8nContext, { method }: ServiceRequest<unknown>) {
	const canBeCancelled = method === 'GET' && 'getExecutionCancelSignal' in context;
	return canBeCancelled ? context.getExecutionCancelSignal() : undefined;
}

/** This node's attempts, by the credentials object made for each: n8n passes nothing else to the credential. */
export const attempts = new WeakMap<object, { session: Session; attempt: Attempt }>();

/**
 * The token for n8n to store in the credential, which it asks for without one, after a 401, and after any failed request
 * of its HTTP Request node; nothing if the token must not be replaced.
 *
 * @throws ServiceError whose failure is a login's, or a `baseUrl` that can't be used
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
	// n8n up to 2.20 stores all of these credentials with the token, and would undo what was edited in the meantime.
	Object.assign(credentials, await attempt.options.readAgain());
	return { accessToken: session.tokens.toStored(result.token) };
}

/** Adds the token to a request. @throws ServiceError if it must not be sent; with status 401, n8n asks for a token first */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const own = attempts.get(credentials);
	if (own === undefined) return signedForOtherNode(credentials, options);
	// After an edit, the credentials may be another account's by now.
	const { session, attempt } = own;
	attempt.waitForToken();
	if (attempt.signal.aborted) throw errorOf({ kind: 'cancelled', sent: false }, session.account);
	const stored = session.tokens.fromStored(credentials.accessToken);
	if (stored === undefined) throw noTokenError();
	const token = session.tokens.newest ?? stored;
	attempt.leaveWith(token);
	// Instead of the execution's cancel, which n8n has put there: it would cut off the answer to a create.
	return { ...signed(options, session.account, token), abortSignal: attempt.signal };
}
