import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { explain } from './errors/explain';
import { ServiceError } from './errors/serviceError';
import { n8nFailureOf } from './errors/failure';
import { unlessAborted } from './request/timers';

/** The credential's name, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** The execution's cancel; undefined for a drop-down. */
export function cancelSignalOf(context: N8nContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

/**
 * Reads the credential.
 *
 * @throws ServiceError if it can't be read or the signal comes first; NodeOperationError if the node has none
 */
export async function readCredentials(
	context: N8nContext,
	signal: AbortSignal | undefined,
): Promise<ICredentialDataDecryptedObject> {
	const result = await unlessAborted(context.getCredentials(CREDENTIAL), signal).then(
		(credentials) => ({ credentials }),
		(error: unknown) => ({ error }),
	);
	if ('credentials' in result) return result.credentials;
	// What n8n says about the node's settings is clear.
	if (result.error instanceof NodeOperationError) throw result.error;
	const isCancelled = signal?.aborted === true;
	const failure = isCancelled
		? ({ kind: 'cancelled', sent: false } as const)
		: n8nFailureOf(result.error);
	throw new ServiceError(failure, explain(failure));
}

/** The same object for all that an execution does in this process, and for nothing else: the data of its flow. */
export function executionOf(context: N8nContext): object {
	try {
		return 'getContext' in context ? context.getContext('flow') : {};
	} catch {
		return {};
	}
}
