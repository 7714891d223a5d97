import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { ExpressionError, NodeOperationError, UserError } from 'n8n-workflow';

import { ServiceClient } from './client';
import { type Failure, failureOf } from './errors/failure';
import { ServiceError } from './errors/problem';
import { failureFromError } from './errors/thrown';
import type { ClientOptions } from './request';
import { CREDENTIAL, type N8nContext } from './session/credential';
import { type Session, sessionOf } from './session/session';
import { unlessAborted } from './timers';

/**
 * Returns the failure of a credential that was deleted, can't be used here, or has an expression that fails, such as one
 * with a blocked $env. n8n's errors about the last have no description. Returns undefined for any other error.
 */
function unusable(error: unknown): Failure | undefined {
	const isKnown = [UserError, ExpressionError, NodeOperationError].some(
		(known) => error instanceof known,
	);
	if (!isKnown) return undefined;
	const { message, description } = error as { message: string; description?: string | null };
	return failureOf({
		title: "n8n can't use this node's credential",
		words: message,
		advice:
			description ||
			'Correct the expressions in the credential, or choose another credential in this node. Whether $env may be used is decided by the administrator of this n8n (N8N_BLOCK_ENV_ACCESS_IN_NODE).',
	});
}

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
			throw new ServiceError(unusable(error) ?? failureFromError(error, { isUnsent: true }));
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
