import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { explain } from './errors/explain';
import { ServiceError } from './errors/serviceError';
import type { WaitNotice } from './pace/options';
import { n8nFailureOf } from './errors/failure';
import { retryDelay } from './errors/retryPolicy';
import { unlessAborted, wait } from './request/timers';
import { TrackedRequest } from './session/trackedRequest';

/** The credential's name, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** The execution's cancel; undefined for a drop-down. */
export function cancelSignalOf(context: N8nContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}

/**
 * The same context with another signal than the execution's cancel: n8n puts the one that it finds there into each
 * request (n8n-core, httpRequestWithAuthentication).
 */
export function withCancelSignal<Context extends object>(
	context: Context,
	signal: AbortSignal | undefined,
): Context {
	return new Proxy(context, {
		get: (target, name) =>
			name === 'getExecutionCancelSignal' ? () => signal : (Reflect.get(target, name) as unknown),
	});
}

/**
 * Reads the credential, and again if n8n fails to read it.
 *
 * @param timeoutMs for all of that
 * @throws ServiceError if it can't be read; NodeOperationError if the node has none
 */
export async function readCredentials(
	context: N8nContext,
	options: { maxRetries: number; timeoutMs: number; stop?: AbortSignal | undefined },
): Promise<ICredentialDataDecryptedObject> {
	const { maxRetries, timeoutMs, stop } = options;
	const tracked = new TrackedRequest(timeoutMs, stop);
	const { signal } = tracked;
	tracked.prepare();
	const read = async () =>
		await unlessAborted(context.getCredentials(CREDENTIAL), signal).then(
			(credentials) => ({ credentials }),
			(error: unknown) => ({ error }),
		);
	let result = await read();
	for (let retries = 1; 'error' in result && retries <= maxRetries; retries += 1) {
		// What n8n says about the node's settings, it would say again.
		if (signal.aborted || result.error instanceof NodeOperationError) break;
		await wait(retryDelay(n8nFailureOf(result.error), retries), signal);
		result = await read();
	}
	tracked.end();
	if ('credentials' in result) return result.credentials;
	if (result.error instanceof NodeOperationError) throw result.error;
	const ended = tracked.isTimedOut
		? ({ kind: 'n8nTimeout', after: timeoutMs } as const)
		: ({ kind: 'cancelled', sent: false } as const);
	const failure = signal.aborted ? ended : n8nFailureOf(result.error);
	throw new ServiceError(failure, explain(failure, { timeout: timeoutMs }));
}

/** The same object for all that an execution does in this process, and for nothing else: the data of its flow. */
export function executionOf(context: N8nContext): object {
	try {
		return 'getContext' in context ? context.getContext('flow') : {};
	} catch {
		return {};
	}
}

/** What n8n's log says of a long wait, and of its end. */
export function logMessage(notice: WaitNotice, baseUrl: string): string {
	if ('resumedAfter' in notice) {
		return `The job orchestration service at ${baseUrl} takes requests again, after ${Math.round(notice.resumedAfter / 1_000)} s`;
	}
	const reason = {
		throttled: 'it is receiving too many',
		unavailable: 'it is unavailable',
		unreachable: "it can't be reached",
		broken: 'its connections break',
		loginFailed: 'its login fails',
	}[notice.waitsBecause];
	return `Requests to the job orchestration service at ${baseUrl} are waiting: ${reason}`;
}
