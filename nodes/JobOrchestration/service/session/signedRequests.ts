import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { failureFromError } from '../errors/fromThrown';
import { type Result, resultOf } from '../errors/fromResponse';
import type { ServiceRequest } from '../request';
import { unlessAborted } from '../timers';
import { Attempt, type AttemptOptions } from './attempt';
import { attempts, cancelOf, CREDENTIAL, type N8nContext } from './credential';
import { HEALTH_CHECK } from './healthCheck';
import { httpOptionsOf } from './login';
import type { Session } from './session';

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
		options: Omit<AttemptOptions, 'cancel' | 'readAgain'>,
	): Promise<Attempted<Body>> {
		const { context, itemIndex, session, credentials: initial } = this;
		session.usedAt = performance.now();
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const cancel = request === HEALTH_CHECK ? options.signal : cancelOf(context, request);
		const attempt = new Attempt({ ...options, cancel, readAgain });
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
			.then((response) => resultOf(response, request, session.secrets))
			.catch((error: unknown) => {
				const { isUnsent, failure } = attempt;
				const redact = (text: string) => session.secrets.redact(text);
				return { failure: failure ?? failureFromError(error, { isUnsent, redact }) };
			});
		attempt.end();
		// The token isn't kept if another attempt has already got a newer one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return { result, token: attempt.token };
	}
}
