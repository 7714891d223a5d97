import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestHelper,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { type Result, resultOf } from '../errors/answer';
import { addressOf, cancelled } from '../errors/failure';
import { ServiceError } from '../errors/problem';
import { failureFromError } from '../errors/thrown';
import type { ServiceRequest } from '../request';
import { unlessAborted } from '../timers';
import { Attempt, type AttemptOptions } from './attempt';
import { HEALTH_CHECK } from './healthCheck';
import { httpOptionsOf, type HttpOptions, signed } from './login';
import { errorOf, newTokenForOtherNode, noTokenError, signedForOtherNode } from './otherNodes';
import type { Session } from './session';

/*
 * Requests that n8n has the credential sign. `SignedRequests` sends this node's requests with n8n's helper, which calls
 * `newToken` and `withToken`. n8n calls these two for the requests of other nodes as well.
 */

/** The name of the credential type, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/**
 * Returns the signal that aborts a request after it was sent: the execution's cancel signal if the request only reads,
 * otherwise undefined. A drop-down has no cancel signal.
 */
function cancelOf(context: N8nContext, { method }: ServiceRequest<unknown>) {
	const canBeCancelled = method === 'GET' && 'getExecutionCancelSignal' in context;
	return canBeCancelled ? context.getExecutionCancelSignal() : undefined;
}

/**
 * This node's attempts, keyed by the credentials object that is made for each of them. n8n passes nothing else of an
 * attempt to the credential.
 */
const attempts = new WeakMap<object, { session: Session; attempt: Attempt }>();

/** The result of one attempt, and the token that the attempt used. */
export type Attempted<Body> = { result: Result<Body>; token: string | undefined };

/** Sends requests with n8n's helper, which has the credential sign each of them. */
export class SignedRequests {
	/** @param itemIndex index of an item that uses the credential, for reading the credential again */
	constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly itemIndex: number,
		private readonly session: Session,
	) {}

	/** Sends a request once, and returns the body of its response or the failure. */
	async send<Body>(
		request: ServiceRequest<Body>,
		options: Omit<AttemptOptions, 'cancel' | 'readAgain' | 'address'>,
	): Promise<Attempted<Body>> {
		const { context, itemIndex, session, credentials: initial } = this;
		session.usedAt = performance.now();
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const cancel = request === HEALTH_CHECK ? options.signal : cancelOf(context, request);
		const { baseUrl } = session.account;
		const address = addressOf(request, baseUrl);
		const attempt = new Attempt({ ...options, address, cancel, readAgain });
		// The credential finds the attempt by this object, and n8n writes a new token into it. Each attempt has its own
		// copy, so that the tokens of other attempts stay unchanged.
		const credentials = { ...initial };
		attempts.set(credentials, { session, attempt });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			httpOptionsOf(request, session.account),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, attempt.signal)
			.then((response) => resultOf(response, request, session))
			.catch((error: unknown) => {
				const { isUnsent, failure } = attempt;
				const { secrets } = session;
				const known = { isUnsent, secrets, address, baseUrl, timeoutMs: options.timeout };
				return { failure: failure ?? failureFromError(error, known) };
			});
		attempt.end();
		// The token isn't kept if another attempt has already got a newer one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return { result, token: attempt.token };
	}
}

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
	if ('failure' in result) throw errorOf({ ...result.failure });
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
	if (attempt.signal.aborted) throw new ServiceError(cancelled({ sent: false }));
	const stored = session.tokens.fromStored(credentials.accessToken);
	if (stored === undefined) throw noTokenError();
	const token = session.tokens.newest ?? stored;
	attempt.leaveWith(token);
	// Replaces the execution's cancel signal, which n8n has set here and which would cut off the response to a create.
	return { ...signed(options, session.account, token), abortSignal: attempt.signal };
}
