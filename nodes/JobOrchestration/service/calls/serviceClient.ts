import type { GenericValue } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import { isHtml } from '../errors/response';
import { ServiceError } from '../errors/serviceError';
import { truncate } from '../errors/meaning';
import type { HttpClient } from '../http';
import type { RequestOptions } from '../request';
import type { Call } from './callError';
import { callError } from './callError';
import { sendWithRetries } from './sendWithRetries';
import type { ClusterPage, Job, NewJob } from './shapes';
import { isClusterPage, isJob, nextPageTokenOf } from './shapes';

/**
 * Pages of a list at most. With fewer, a list of 100,000 clusters would fail; with more, one without an end would be
 * followed for hours.
 */
const MAX_PAGES = 1_000;

/** Users enter the name that the drop-down shows. */
const CLUSTER_HINT =
	"'Work Cluster' is the cluster's ID ('metadata.uid' in the output of Get Many), not its name.";

/** Which clusters are wanted. */
interface ClusterQuery {
	/** How many at most; Infinity for all of them. */
	limit: number;
	/** Where the page begins; the list's start if it is undefined. */
	pageToken?: string | undefined;
	/** Clusters that are asked for at once. */
	pageSize: number;
	/** The service itself can't filter. */
	filter?: ((cluster: JsonObject) => boolean) | undefined;
}

/** The service's calls, a method each, over one HTTP client and with the same options. All throw ServiceError. */
export class ServiceClient {
	constructor(
		private readonly httpClient: HttpClient,
		private readonly options: RequestOptions,
	) {}

	/** A text of the service as errors, hints and logs may show it: without secrets. */
	redact(text: string): string {
		return this.httpClient.redact(text);
	}

	/**
	 * Creates a job: `POST /api/v1/namespaces/<namespace>/jobs`. Never resent once the service may have acted on it.
	 *
	 * @throws ServiceError, whose `jobMayExist` says whether there may be a job nevertheless
	 */
	async createJob(job: NewJob): Promise<Job> {
		const name = `'${job.displayName}' in namespace '${job.namespace}'`;
		const call: Call<Job> = {
			request: {
				method: 'POST',
				path: encodePath('api', 'v1', 'namespaces', job.namespace, 'jobs'),
				body: { namespace: job.namespace, job: bodyOf(job) },
				expected: 'a job',
				isExpected: isJob,
			},
			idempotent: false,
			job: { namespace: job.namespace, displayName: job.displayName },
			action: 'create the job',
			messages: {
				request: `create job ${name}`,
				hint: CLUSTER_HINT,
				notFound: {
					message: 'The namespace, the workflow template or the work cluster was not found',
					advice: `Check 'Namespace' (${job.namespace}), 'Workflow UID' (${job.workflowUid}) and 'Work Cluster' (${job.workCluster}). ${CLUSTER_HINT}`,
				},
				conflict: {
					message: 'The new job conflicts with something on the service',
					advice: "Change this node's fields, or resolve the conflict on the service.",
				},
				uncertain: `Before you run this item again, look on the service for a job named ${name}. The request had been sent, and the node didn't resend it, so that no job is created twice.`,
			},
		};
		return await sendWithRetries(this.httpClient, call, this.options);
	}

	/**
	 * Changes the state of a job: `PUT /api/v1/namespaces/<namespace>/jobs/<jobId>/<verb>`, without a body.
	 *
	 * @returns the body of the answer, which the interface does not show; null if it is empty
	 */
	async changeJobState({
		namespace,
		jobId,
		verb,
		idempotent,
	}: Record<'namespace' | 'jobId' | 'verb', string> &
		Pick<Call<unknown>, 'idempotent'>): Promise<GenericValue> {
		const call: Call<GenericValue> = {
			request: {
				method: 'PUT',
				path: encodePath('api', 'v1', 'namespaces', namespace, 'jobs', jobId, verb),
				expected: 'a confirmation',
				isExpected: isNoWebPage,
				maySayFailed: true,
			},
			idempotent,
			action: `${verb} the job`,
			messages: {
				request: `${verb} job '${jobId}' in namespace '${namespace}'`,
				notFound: {
					message: `No job '${truncate(jobId)}' in namespace '${truncate(namespace, 18)}'`,
					advice:
						"Check 'Job ID' and 'Namespace'. The ID is 'metadata.uid' in the output of Create, not the job's name or display name. If both are right, check the 'Base URL' in the credential.",
				},
				conflict: {
					message: `Can't ${verb} the job in its current state`,
					advice:
						'Check the state of the job on the service: it may have ended, or already be in the state that you want.',
				},
				uncertain:
					"Before you run this item again, check the state of the job on the service. The node didn't resend the request, since it may have worked.",
			},
		};
		const body = await sendWithRetries(this.httpClient, call, this.options);
		return body === undefined || body === '' ? null : body;
	}

	/** A page of the list of work clusters, as the service sent it: `GET /api/v1/clusters`. */
	async listClusters(limit: number, pageToken?: string): Promise<ClusterPage> {
		const call = this.clusterList(limit, pageToken);
		return await sendWithRetries(this.httpClient, call, this.options);
	}

	/**
	 * Work clusters page by page, with the token of the next page.
	 *
	 * @param limitOf how many clusters the next page may hold
	 * @throws ServiceError, also if a page token comes twice, or the list has too many pages
	 */
	async *clusterPages(
		limitOf: () => number,
		pageToken?: string,
	): AsyncGenerator<{ clusters: JsonObject[]; next: string | undefined }> {
		const seen = new Set<string | undefined>();
		for (let next = pageToken; ; ) {
			const call = this.clusterList(limitOf(), next);
			// A later page that fails may not be the end: its token may have expired.
			const onFailure = seen.size === 0 ? this.options.onFailure : undefined;
			const page = await sendWithRetries(this.httpClient, call, { ...this.options, onFailure });
			seen.add(next);
			next = nextPageTokenOf(page);
			if (next !== undefined && seen.has(next)) throw this.endlessList(call);
			yield { clusters: page.items ?? [], next };
			if (next === undefined) return;
			if (seen.size === MAX_PAGES) throw this.endlessList(call);
		}
	}

	/**
	 * The wanted clusters, by no more pages than needed. If a page's token has expired, the list begins again, once.
	 *
	 * @throws ServiceError, also if the list has no end
	 */
	async allClusters(query: ClusterQuery): Promise<JsonObject[]> {
		let pages = 0;
		const list = async () => await this.clustersOnce(query, () => (pages += 1));
		return await list().catch(async (error: unknown) => {
			const hasExpired = error instanceof ServiceError && error.httpStatus === 410 && pages > 0;
			return await (hasExpired ? list() : Promise.reject(error as Error));
		});
	}

	private async clustersOnce(
		{ pageSize, limit, pageToken, filter }: ClusterQuery,
		onPage: () => void,
	): Promise<JsonObject[]> {
		const found: JsonObject[] = [];
		// With a filter, the clusters that it takes are unknown: a whole page is asked for.
		const limitOf = () => (filter ? pageSize : Math.min(pageSize, limit - found.length));
		for await (const { clusters } of this.clusterPages(limitOf, pageToken)) {
			onPage();
			for (const cluster of clusters) if (filter?.(cluster) !== false) found.push(cluster);
			if (found.length >= limit) break;
		}
		return found.slice(0, limit);
	}

	private clusterList(limit: number, pageToken?: string): Call<ClusterPage> {
		return {
			request: {
				method: 'GET',
				path: '/api/v1/clusters',
				qs: {
					'ListOption.limit': limit,
					...(pageToken === undefined ? {} : { 'ListOption.continue': pageToken }),
				},
				expected: 'a list of work clusters',
				isExpected: isClusterPage,
			},
			idempotent: true,
			action: 'list the work clusters',
			messages: {
				request: 'list clusters',
				notFound: {
					message: `No list of work clusters at ${truncate(this.httpClient.baseUrl)}`,
					advice:
						"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
				},
			},
		};
	}

	private endlessList(call: Call<ClusterPage>): ServiceError {
		const { baseUrl } = this.httpClient;
		const { timeout } = this.options;
		return callError(call, { kind: 'endlessList' }, { baseUrl, timeout, timesSent: 1 });
	}
}

/** The `job` of the request, which spells `maxretry` in lower case where the answer has `maxRetry`. */
function bodyOf(job: NewJob): JsonObject {
	const { workflowUid, maxRetry, retryInterval, ...sentAsIs } = job;
	const hasRetryOption = maxRetry !== undefined || retryInterval !== undefined;
	// What is undefined is not sent.
	const retryOption = hasRetryOption ? { maxretry: maxRetry, retryInterval } : undefined;
	return { ...sentAsIs, workflow: { uid: workflowUid }, retryOption };
}

/** Accepts any body but a web page, for calls whose response the interface does not show. */
function isNoWebPage(body: unknown): body is GenericValue {
	return !isHtml(body);
}

/** A path of these segments, percent-encoded. A URL parser would still resolve `.` and `..`: FieldValue refuses them. */
function encodePath(...segments: string[]): string {
	return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}
