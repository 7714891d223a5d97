import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { ServiceClient } from './client';
import { ServiceError } from './errors/problem';
import { failureFromError } from './errors/thrown';
import type { ClientOptions } from './request';
import { CREDENTIAL, type N8nContext } from './session/credential';
import { type Session, sessionOf } from './session/session';
import { unlessAborted } from './timers';

/**
 * The clients of one run of the node, one per account. The items of a run must have one account, but with expressions,
 * they may have several.
 */
export class Clients {
	private readonly bySession = new Map<Session, ServiceClient>();

	/** @param signal ends the reading of the credentials when it is aborted */
	constructor(
		private readonly context: N8nContext,
		private readonly options: ClientOptions = {},
		private readonly signal?: AbortSignal,
	) {}

	/**
	 * Returns the client for an item.
	 *
	 * @throws ServiceError, or n8n's own error, if the credential can't be read or used
	 */
	async forItem(itemIndex: number): Promise<ServiceClient> {
		const credentials = await this.readCredentials(itemIndex);
		const session = sessionOf(credentials);
		session.tokens.useStored(credentials.accessToken);
		let client = this.bySession.get(session);
		if (client === undefined) {
			const options = { ...this.options, execution: executionOf(this.context) };
			client = new ServiceClient(this.context, credentials, itemIndex, session, options);
			this.bySession.set(session, client);
		}
		return client;
	}

	private async readCredentials(itemIndex: number): Promise<ICredentialDataDecryptedObject> {
		const reading = this.context.getCredentials(CREDENTIAL, itemIndex);
		return await unlessAborted(reading, this.signal).catch((error: unknown) => {
			throw new ServiceError(failureFromError(error, { isUnsent: true }));
		});
	}
}

/**
 * Returns the data of the execution's flow: an object that is the same for everything that the execution does in this
 * process, and that no other execution has.
 */
function executionOf(context: N8nContext): object {
	try {
		return 'getContext' in context ? context.getContext('flow') : {};
	} catch {
		return {};
	}
}
