import type { GenericValue } from 'n8n-workflow';

import { pathOf } from './baseUrl';
import type { Connection } from './connection';
import type { SendOptions } from './send';
import { isForPrograms, send } from './send';
import type { Job, JsonRecord, NewJob } from './shapes';
import { isJob } from './shapes';

/**
 * Creates a job: `POST /api/v1/namespaces/<namespace>/jobs`. Never sent again once the service may have
 * acted on it.
 *
 * @throws CallError, whose `jobMayExist` says whether there may be a job nevertheless
 */
export async function createJob(
	connection: Connection,
	job: NewJob,
	options: SendOptions,
): Promise<Job> {
	const { namespace, displayName, workCluster } = job;
	return await send(
		connection,
		{
			call: { operation: 'createJob', namespace, displayName, workCluster },
			request: {
				method: 'POST',
				path: pathOf('api', 'v1', 'namespaces', namespace, 'jobs'),
				body: { namespace, job: bodyOf(job) },
			},
			wanted: 'a job',
			effect: 'onceOnly',
			accepts: isJob,
		},
		options,
	);
}

/**
 * Changes the state of a job: `PUT /api/v1/namespaces/<namespace>/jobs/<jobId>/<verb>`, without a body.
 *
 * @returns the body of the answer, which the interface does not show; null where it is empty
 * @throws CallError
 */
export async function changeJobState(
	connection: Connection,
	{ namespace, jobId, verb }: { namespace: string; jobId: string; verb: string },
	options: SendOptions,
): Promise<GenericValue> {
	const body = await send(
		connection,
		{
			call: { operation: 'changeJobState', verb, namespace, jobId },
			request: {
				method: 'PUT',
				path: pathOf('api', 'v1', 'namespaces', namespace, 'jobs', jobId, verb),
			},
			wanted: 'a confirmation',
			effect: 'idempotent',
			accepts: isForPrograms,
		},
		options,
	);
	return body === undefined || body === '' ? null : body;
}

/** The `job` of the request, which spells `maxretry` in lower case where the answer has `maxRetry`. */
function bodyOf(job: NewJob): JsonRecord {
	const { workflowUid, maxRetry, retryInterval, ...sentAsIs } = job;
	const retryOption = {
		...(maxRetry === undefined ? {} : { maxretry: maxRetry }),
		...(retryInterval === undefined ? {} : { retryInterval }),
	};
	return {
		...sentAsIs,
		workflow: { uid: workflowUid },
		...(Object.keys(retryOption).length === 0 ? {} : { retryOption }),
	};
}
