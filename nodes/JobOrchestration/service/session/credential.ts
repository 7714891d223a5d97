import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestHelper,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { credentialErrorOf, ServiceError } from '../errors/problem';
import { failureFromError } from '../errors/thrown';
import { timeoutSignal, unlessAborted, wait } from '../timers';
import { sendLogin, type TokenResult } from './http';
import { tokenFinders } from './otherNodes';
import { type Session, sessionOf } from './session';
import type { N8nAccess } from './tokenSearch';

/*
 * n8n calls two functions of the credential for a request: `newToken`, whose result it stores, and `withToken`
 * (otherNodes.ts), which signs the request. n8n does so for the requests of other nodes and for the test of the
 * credential. This node signs its own requests (http.ts). It logs in through the credential, so that n8n stores the token:
 *
 * 1. `logIn` of the access that `readCredential` returns leaves a function in `tokenFinders` that sends the login.
 * 2. It calls n8n's `httpRequestWithAuthentication` with a copy of the credential that has no token.
 * 3. n8n therefore calls `newToken`, which calls the function, and stores the token that it returns.
 * 4. n8n then calls `withToken` to sign the request, which refuses this: there is nothing to send.
 */

/** The name of the credential type, as workflows store it. */
const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** Milliseconds in which n8n has to read the stored token. Then the node logs in. */
const READ_WITHIN_MS = 10_000;
/** Milliseconds in which n8n has to store the token of a login. Then the node uses the token nevertheless. */
const STORED_WITHIN_MS = 1_000;

/**
 * Reads the credential of an item.
 *
 * @param cancel the execution's cancel signal, which also ends the reading; undefined for a drop-down
 * @returns the session of the account, and its access to n8n: the stored credential, and a login after which n8n stores
 * the token
 * @throws ServiceError if the credential can't be read or used
 */
export async function readCredential(
	context: N8nContext,
	itemIndex: number,
	cancel?: AbortSignal,
): Promise<{ session: Session; access: N8nAccess }> {
	const read = async (limit: AbortSignal | undefined) =>
		await unlessAborted(context.getCredentials(CREDENTIAL, itemIndex), limit);
	// Without a time limit, a store that never answers would stop all later searches for a token.
	const readAgain = async () => await read(timeoutSignal(READ_WITHIN_MS));
	const credentials = await read(cancel).catch((error: unknown) => {
		throw new ServiceError(failureFromError(error));
	});
	const session = sessionOf(credentials);
	const { secrets, tokens } = session;
	tokens.useStored(credentials.accessToken);
	const logIn: N8nAccess['logIn'] = async (stop) => {
		let result: TokenResult | undefined;
		const patience = new AbortController();
		// n8n calls `newToken` only if the credential has no token.
		const data = { ...credentials, accessToken: '' };
		tokenFinders.set(data, async (helpers) => {
			result = await sendLogin(helpers, session, stop);
			void wait(STORED_WITHIN_MS).then(() => patience.abort());
			if ('failure' in result) return {};
			// n8n up to 2.20 stores this whole object with the token. Outdated values would undo a later edit.
			Object.assign(data, await readAgain());
			return { accessToken: tokens.toStored(result.token) };
		});
		const { httpRequestWithAuthentication } = context.helpers;
		const storing = httpRequestWithAuthentication.call(
			...([context, CREDENTIAL, { url: '' }] as const),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data } },
		) as Promise<unknown>;
		const error = await unlessAborted(storing, patience.signal).catch((thrown: unknown) => thrown);
		return result ?? { failure: failureFromError(error, secrets) };
	};
	const readStored = async () => (await readAgain()).accessToken;
	return { session, access: { helpers: context.helpers, cancel, readStored, logIn } };
}

/**
 * Returns the token for n8n to store in the credential, or an empty object if the token must not be replaced. n8n calls
 * this function if no token is stored, for the test of the credential, after a 401, and after any failed request of its
 * HTTP Request node.
 *
 * @throws ServiceError if no token could be obtained, or a field of the credential can't be used
 */
export async function newToken(
	this: IHttpRequestHelper,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const findToken = tokenFinders.get(credentials);
	if (findToken === undefined) return {};
	return await findToken(this.helpers).catch((error: unknown) => {
		throw error instanceof ServiceError ? credentialErrorOf(error.failure) : error;
	});
}
