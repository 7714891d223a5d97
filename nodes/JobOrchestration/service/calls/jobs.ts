import type { GenericValue } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../../json';
import { nameOf, shorten, truncate } from '../../texts';
import { hasFailedStatus, saysNoSuccess } from '../errors/fromResponse';
import type { Call } from './callError';

export { saysNoSuccess };

/** What a new job is made from. What is undefined is not sent. */
export interface NewJob {
	/** Where the job is placed: part of the path, and sent twice in the body. */
	namespace: string;
	workflowUid: string;
	/** A cluster's `metadata.uid`. */
	workCluster: string;
	displayName: string;
	group: string;
	/** Parameter records: what is given in JSON may have other fields than the form's. */
	inputs: JsonObject[];
	outputs: JsonObject[];
	type: string;
	metadata: JsonObject;
	priority?: number | undefined;
	maxRetry?: number | undefined;
	/** Milliseconds. */
	retryInterval?: number | undefined;
	workspace?: string | undefined;
}

/** Users enter the name that the drop-down shows. */
const CLUSTER_HINT =
	"'Work Cluster' is the cluster's ID ('metadata.uid' in the output of Get Many), not its name.";

/** Creates a job: `POST /api/v1/namespaces/<namespace>/jobs`. */
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
		wordsOf: () => ({
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

/** Changes a job's state: `PUT /api/v1/namespaces/<namespace>/jobs/<jobId>/<verb>`. The interface shows no answer. */
export function changeJobState({
	namespace,
	jobId,
	verb,
	idempotent,
	isOfNewJob = false,
}: Record<'namespace' | 'jobId' | 'verb', string> &
	Pick<Call<unknown>, 'idempotent' | 'isOfNewJob'>): Call<GenericValue> {
	return {
		operationId: 'changeJobState',
		method: 'PUT',
		path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs', jobId, verb),
		expected: 'a confirmation',
		isExpected: isAnything,
		failureIn: (body) =>
			saysNoSuccess(body) ? 'refused' : hasFailedStatus(body) ? 'failed' : undefined,
		...{ idempotent, isOfNewJob },
		wordsOf: () => ({
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

/** The `metadata.uid` of a job or a cluster; undefined unless it is a text with something in it, or a whole number. */
export function uidOf({ metadata }: JsonObject): string | undefined {
	const uid = isJsonObject(metadata) ? metadata.uid : undefined;
	// A larger number has lost digits.
	if (typeof uid === 'number') return Number.isSafeInteger(uid) && uid >= 0 ? `${uid}` : undefined;
	return typeof uid === 'string' && uid.trim() !== '' ? uid : undefined;
}

/** All that is relied on is the ID. */
const isJob = (body: unknown): body is JsonObject =>
	isJsonObject(body) && uidOf(body) !== undefined;

/** A 201 has created something, and so may a service that names an ID anywhere. */
const isRefusedCreate = (body: unknown, status: number) =>
	status === 200 &&
	saysNoSuccess(body) &&
	!/"(?:uid|id|job_?id)":(?:"[^"]|\d)/i.test(JSON.stringify(body));

const isAnything = (_body: unknown): _body is GenericValue => true;

/** The `job` of the request, which spells `maxretry` in lower case where the answer has `maxRetry`. */
function bodyOf(job: NewJob): JsonObject {
	const { workflowUid, maxRetry, retryInterval, ...sentAsIs } = job;
	const hasRetryOption = maxRetry !== undefined || retryInterval !== undefined;
	const retryOption = hasRetryOption ? { maxretry: maxRetry, retryInterval } : undefined;
	return { ...sentAsIs, workflow: { uid: workflowUid }, retryOption };
}

/** A path of these segments, percent-encoded. A URL parser would still resolve `.` and `..`: FieldValue refuses them. */
function encodePath(...segments: string[]): string {
	return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
