import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { ExpressionError, NodeOperationError, UserError } from 'n8n-workflow';

import { ServiceClient } from './client';
import { meaningOf } from './errors/kinds';
import { failureFromError } from './errors/fromThrown';
import { ServiceError } from './errors/problem';
import type { ClientOptions } from './request';
import { CREDENTIAL, type N8nContext } from './session/credential';
import { type Session, sessionOf } from './session/session';
import { unlessAborted } from './timers';

/**
 * The texts for a credential that was deleted or can't be used here. n8n throws a UserError then (its
 * credentials-helper.js).
 */
const UNUSABLE = {
	message: "n8n can't use this node's credential",
	advice: 'Choose another credential in this node.',
};

/** The clients of one run of the node, one per account. With expressions, items may have different credentials. */
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

	/** The number of accounts that the items use. */
	get count(): number {
		return this.bySession.size;
	}

	/** Returns the client of an account; undefined if no item uses the account. */
	of(account: string | undefined): ServiceClient | undefined {
		return [...this.bySession.values()].find((client) => client.account === account);
	}

	private async readCredentials(itemIndex: number): Promise<ICredentialDataDecryptedObject> {
		const reading = this.context.getCredentials(CREDENTIAL, itemIndex);
		return await unlessAborted(reading, this.signal).catch((error: unknown) => {
			// n8n's errors about the node's settings are clear, so they are not replaced.
			if (error instanceof NodeOperationError || error instanceof ExpressionError) throw error;
			const failure = failureFromError(error, { isUnsent: true });
			const texts = error instanceof UserError ? UNUSABLE : {};
			throw new ServiceError(failure, { ...meaningOf(failure), ...texts });
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
