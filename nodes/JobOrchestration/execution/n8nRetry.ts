import type { IExecuteFunctions } from 'n8n-workflow';

import { isJsonObject } from '../json';
import type { Problem } from '../service/errors/problem';
import { MEMORY_MS } from '../service/timers';

/*
 * n8n's Retry gives the stored state of a failed execution to a new one. In two cases, this state doesn't show what was
 * done:
 *
 * - Retry is pressed again on the same execution. An earlier Retry may have created jobs in the meantime, and the second
 *   one would create them again. This process therefore remembers for an hour which execution has continued which one.
 *   After a restart, and on another worker, nothing is known of it.
 * - n8n died while it ran this node, and has stored no state.
 */

/**
 * The latest Retry of each execution, by the ID of the execution that was retried: the execution that continues it, since
 * when (`performance.now()`), and what it has done, to complete a sentence; undefined while it runs.
 */
const retries = new Map<string, { by: string; at: number; done?: string }>();

/**
 * Records that an execution continues another one.
 *
 * @param createsJobs whether the run creates jobs
 * @returns the problem of the run if a third execution has continued it already, so that the jobs may exist
 */
export function beginRetry(retried: string, by: string, createsJobs: boolean): Problem | undefined {
	const now = performance.now();
	for (const [id, { at, done }] of retries) {
		if (done !== undefined && now >= at + MEMORY_MS) retries.delete(id);
	}
	const known = retries.get(retried);
	if (known !== undefined && known.by !== by) {
		const { done = 'is still running' } = known;
		return {
			title: `Execution ${retried} was already retried as execution ${known.by}, which ${done}. Use Retry of execution ${known.by}.`,
			advice: `Nothing was sent. Look at what execution ${known.by} has done. If n8n offers no Retry of it and items are not done, start a new execution with these items.`,
			facts: [],
			httpStatus: null,
			mayHaveActed: createsJobs,
			scope: 'all items',
		};
	}
	retries.set(retried, { ...known, by, at: now });
	return undefined;
}

/** Records what the Retry of an execution has done when it ends; undefined if it has failed and done nothing. */
export function endRetry(retried: string, by: string, done: string | undefined): void {
	const known = retries.get(retried);
	const what = done ?? known?.done;
	if (what === undefined) retries.delete(retried);
	else retries.set(retried, { by, at: performance.now(), done: what });
}

/** The field that n8n's recovery puts into the JSON of an output that it doesn't know. */
const ARTIFICIAL = 'isArtificialRecoveredEventItem';

/** Returns whether an agent or an MCP client calls the node. n8n appends "Tool" to the type of a node that is a tool. */
export const isTool = (context: IExecuteFunctions) => context.getNode().type.endsWith('Tool');

/**
 * Returns whether n8n died in this node, or in a later node before it had stored the output of this one. In that case,
 * n8n's recovery finds in n8n's event log that the node was started. It then records the start without an output, or
 * with an artificial output (n8n, ExecutionRecoveryService.amend). A tool is not asked, because each of its calls is a
 * new request.
 */
export function hasCrashed(context: IExecuteFunctions): boolean {
	if (context.getMode() !== 'retry' || isTool(context)) return false;
	// The value of the expression `$('<node>')`. For a node that was not started, reading anything but `isExecuted` throws.
	const earlier = context.getWorkflowDataProxy(0).$(context.getNode().name) as {
		isExecuted: boolean;
		all: (branch: number, run: number) => Array<{ json: unknown }>;
	};
	if (!earlier.isExecuted) return false;
	try {
		return earlier.all(0, 0).some(({ json }) => isJsonObject(json) && ARTIFICIAL in json);
	} catch {
		return true;
	}
}
