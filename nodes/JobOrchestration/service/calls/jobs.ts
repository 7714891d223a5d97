import type { GenericValue } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../../json';
import { nameOf, shorten, truncate } from '../../texts';
import { type Call, hasFailureFlag, hasFailureStatus } from './call';

/** The values from which a new job is created. A value that is undefined is not sent. */
export interface NewJob {
	/** The namespace of the job. It is a part of the path, and is sent twice in the body. */
	namespace: string;
	workflowUid: string;
	/** The `metadata.uid` of a work cluster. */
	workCluster: string;
	displayName: string;
	group: string;
	/** Parameter records. Those that are given as JSON may have other fields than those of the form. */
	inputs: JsonObject[];
	outputs: JsonObject[];
	type: string;
	metadata: JsonObject;
	priority?: number | undefined;
	maxRetry?: number | undefined;
	/** The retry interval in milliseconds. */
	retryInterval?: number | undefined;
	workspace?: string | undefined;
}

/** The hint is needed because users enter the name that the drop-down shows. */
const CLUSTER_HINT =
	"'Work Cluster' is the cluster's ID ('metadata.uid' in the output of Get Many), not its name.";

/** Returns the call that creates a job: `POST /api/v1/namespaces/<namespace>/jobs`. */
export function createJob(job: NewJob): Call<JsonObject> {
	const { namespace, displayName, workflowUid, workCluster } = job;
	return {
		operationId: 'createJob',
		method: 'POST',
		path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs'),
		body: { namespace, job: bodyOf(job) },
		expected: 'a job',
		isExpected: isJob,
		failureIn: (body, status) => (isRefusedCreate(body, status) ? 'refused' : undefined),
		idempotent: false,
		job: { namespace, displayName },
		textsOf: () => ({
			action: 'create the job',
			request: `create job ${nameOf(job)}`,
			hint: CLUSTER_HINT,
			byStatus: {
				404: () => ({
					message: 'The namespace, the workflow template or the work cluster was not found',
					advice: `Check 'Namespace' (${shorten(namespace)}), 'Workflow UID' (${shorten(workflowUid)}) and 'Work Cluster' (${shorten(workCluster)}). ${CLUSTER_HINT}`,
				}),
				409: () => ({
					advice: `Look on the service for a job named ${nameOf(job)}: if a proxy has sent the request twice, the job was created. If there is none, check this node's fields.`,
				}),
			},
			uncertain: `Before you run this item again, look on the service for a job named ${nameOf(job)}.`,
		}),
	};
}

/**
 * Returns the call that changes a job's state: `PUT /api/v1/namespaces/<namespace>/jobs/<jobId>/<verb>`. The interface
 * document shows no response to it.
 */
export function changeJobState({
	namespace,
	jobId,
	verb,
	idempotent,
}: Record<'namespace' | 'jobId' | 'verb', string> &
	Pick<Call<unknown>, 'idempotent'>): Call<GenericValue> {
	return {
		operationId: 'changeJobState',
		method: 'PUT',
		path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs', jobId, verb),
		expected: 'a confirmation',
		isExpected: isAnything,
		failureIn: (body) =>
			hasFailureFlag(body) ? 'refused' : hasFailureStatus(body) ? 'failed' : undefined,
		idempotent,
		textsOf: () => ({
			action: `${verb} the job`,
			request: `${verb} job '${shorten(jobId)}' in namespace '${shorten(namespace)}'`,
			byStatus: {
				404: () => ({
					message: `No job '${truncate(jobId)}' in namespace '${truncate(namespace, 18)}'`,
					advice:
						"Check 'Job ID' and 'Namespace'. The ID is 'metadata.uid' in the output of Create, not the job's name or display name. If both are right, check the 'Base URL' in the credential.",
				}),
				409: ({ words }) => ({
					message: `Can't ${verb} the job in its current state`,
					words,
					advice:
						'Check the state of the job on the service: it may have ended, or already be in the state that you want.',
					isWrongValue: false,
				}),
			},
			uncertain: 'Before you run this item again, check the state of the job on the service.',
		}),
	};
}

/** Returns the `metadata.uid` of a job or cluster; undefined unless it is a non-blank text or a whole number. */
export function uidOf({ metadata }: JsonObject): string | undefined {
	const uid = isJsonObject(metadata) ? metadata.uid : undefined;
	// A number beyond the safe integers has lost digits.
	if (typeof uid === 'number') return Number.isSafeInteger(uid) && uid >= 0 ? `${uid}` : undefined;
	return typeof uid === 'string' && uid.trim() !== '' ? uid : undefined;
}

/** Decides whether a body is a job. Only its ID is checked, since nothing else is relied on. */
const isJob = (body: unknown): body is JsonObject =>
	isJsonObject(body) && uidOf(body) !== undefined;

/**
 * Decides whether the service has refused to create a job. A 201 means that something was created, and an ID anywhere
 * in the body means that something may have been created, so neither counts as a refusal.
 */
const isRefusedCreate = (body: unknown, status: number) =>
	status === 200 &&
	hasFailureFlag(body) &&
	!/"(?:uid|id|job_?id)":(?:"[^"]|\d)/i.test(JSON.stringify(body));

const isAnything = (_body: unknown): _body is GenericValue => true;

/** Returns the `job` of the request body. The request spells `maxretry` in lower case, the response has `maxRetry`. */
function bodyOf(job: NewJob): JsonObject {
	const { workflowUid, maxRetry, retryInterval, ...sentAsIs } = job;
	const hasRetryOption = maxRetry !== undefined || retryInterval !== undefined;
	const retryOption = hasRetryOption ? { maxretry: maxRetry, retryInterval } : undefined;
	return { ...sentAsIs, workflow: { uid: workflowUid }, retryOption };
}

/**
 * Returns a path of percent-encoded segments. A URL parser would still resolve the segments `.` and `..`, so FieldValue
 * refuses them.
 */
function encodePath(...segments: string[]): string {
	return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
