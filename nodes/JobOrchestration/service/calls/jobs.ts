import type { GenericValue } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../../json';
import { MAX, nameOf, truncate } from '../../texts';
import { saysFailed } from '../errors/said';
import type { ServiceRequest } from '../request';

/**
 * The values from which a new job is created. Those that have no name here are sent as they are. A value that is undefined
 * is not sent.
 */
export interface NewJob extends JsonObject {
	/** The namespace of the job. It is a part of the path, and is sent twice in the body. */
	namespace: string;
	workflowUid: string;
	/** The `metadata.uid` of a work cluster. */
	workCluster: string;
	displayName: string;
	maxRetry?: number | undefined;
	/** The retry interval in milliseconds. */
	retryInterval?: number | undefined;
}

/** The hint is needed because users enter the name that the drop-down shows. */
const CLUSTER_HINT =
	"'Work Cluster' is the cluster's ID ('metadata.uid' in the output of Get Many), not its name.";

/** A path that doesn't exist has the same status as an ID that doesn't. */
const CHECK_BASE_URL = "If they are right, check the 'Base URL' in the credential.";

/** Returns the call that creates a job: `POST /api/v1/namespaces/<namespace>/jobs`. */
export function createJob(job: NewJob): ServiceRequest<JsonObject> {
	const { namespace, displayName, workflowUid, workCluster } = job;
	return {
		method: 'POST',
		path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs'),
		body: { namespace, job: bodyOf(job) },
		expected: 'a job',
		isExpected: isJob,
		idempotent: false,
		job: { namespace, displayName },
		errorTexts: () => ({
			action: 'create the job',
			ifRefused: `Check this node's fields. ${CLUSTER_HINT}`,
			ifConflict: `Look on the service for a job named ${nameOf({ namespace, displayName })}: it may exist already. Otherwise, check this node's fields.`,
			rows: [
				[
					'404',
					'The namespace, the workflow template or the work cluster was not found',
					`Check 'Namespace' (${truncate(namespace)}), 'Workflow UID' (${truncate(workflowUid)}) and 'Work Cluster' (${truncate(workCluster)}). ${CLUSTER_HINT} ${CHECK_BASE_URL}`,
				],
			],
		}),
	};
}

/**
 * Returns the call that changes a job's state: `PUT /api/v1/namespaces/<namespace>/jobs/<jobId>/<verb>`. The interface
 * document shows no response to it.
 */
export function changeJobState(
	{ namespace, jobId }: { namespace: string; jobId: string },
	{ verb, idempotent }: { verb: string; idempotent: boolean },
): ServiceRequest<GenericValue> {
	return {
		method: 'PUT',
		path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs', jobId, verb),
		expected: 'a confirmation',
		isExpected: isConfirmation,
		idempotent,
		errorTexts: () => ({
			action: `${verb} the job`,
			ifRefused: `Check the state of the job on the service, and 'Job ID' and 'Namespace' in this node.`,
			rows: [
				[
					'404 410',
					`No job '${truncate(jobId)}' in namespace '${truncate(namespace, MAX.namespaceInTitle)}'`,
					`Check 'Job ID' and 'Namespace'. The ID is 'metadata.uid' in the output of Create, not the job's name or display name. ${CHECK_BASE_URL}`,
				],
				[
					'304 405 409',
					`Can't ${verb} the job in its current state`,
					'Check the state of the job on the service: it may have ended, or already be in the state that you want.',
				],
			],
		}),
	};
}

/** Returns the `metadata.uid` of a job or cluster; undefined unless it is a non-blank text or a whole number. */
export function uidOf({ metadata }: JsonObject): string | undefined {
	const uid = isJsonObject(metadata) ? metadata.uid : undefined;
	// A number beyond the safe integers is no longer exact.
	if (typeof uid === 'number') return Number.isSafeInteger(uid) && uid >= 0 ? `${uid}` : undefined;
	return typeof uid === 'string' && uid.trim() !== '' ? uid : undefined;
}

/** Decides whether a body is a job. Only its ID is checked, since nothing else is relied on. */
const isJob = (body: unknown): body is JsonObject =>
	isJsonObject(body) && uidOf(body) !== undefined;

/** Decides whether a body confirms a state change. The interface document shows none, so any body does but a refusal. */
const isConfirmation = (body: unknown): body is GenericValue => saysFailed(body) === undefined;

/** Returns the `job` of the request body. The request spells `maxretry` in lower case, the response has `maxRetry`. */
function bodyOf(job: NewJob): JsonObject {
	const { workflowUid, maxRetry, retryInterval, ...sentAsIs } = job;
	const hasRetryOption = maxRetry !== undefined || retryInterval !== undefined;
	const retryOption = hasRetryOption ? { maxretry: maxRetry, retryInterval } : undefined;
	return { ...sentAsIs, workflow: { uid: workflowUid }, retryOption };
}

/**
 * Returns a path of percent-encoded segments. A URL parser would still resolve the segments `.` and `..`, so `fields/checks.ts`
 * refuses them.
 */
function encodePath(...segments: string[]): string {
	return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
