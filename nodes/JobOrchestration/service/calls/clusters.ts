import { isJsonObject, type JsonObject } from '../../json';
import { truncate } from '../../texts';
import { hasFailedStatus, saysNoSuccess } from '../errors/fromResponse';
import { ServiceError } from '../errors/problem';
import type { ServiceClient } from '../client';
import type { RequestOptions } from '../request';
import type { Call } from './callError';
import { uidOf } from './jobs';

/** Pages of a list at most. With fewer, 100,000 clusters could not be listed; with more, an endless list takes hours. */
const MAX_PAGES = 1_000;

type ClusterPage = JsonObject & { items?: JsonObject[] | null };

/** Where a page begins, and how many clusters it has at most; if undefined, the service decides. */
interface Paging {
	pageToken?: string | undefined;
	pageSize?: number | undefined;
}

interface Found {
	clusters: JsonObject[];
	/** Whether the last page was full, and no page said that it is the last or where the next one begins. */
	mayBeMore: boolean;
}

/** A page of the list of work clusters: `GET /api/v1/clusters`. */
export function listClusters({ pageToken, pageSize }: Paging): Call<ClusterPage> {
	const refused = () => ({
		advice: `Check this node's fields, above all Options › Page Size: the service may not allow ${pageSize} clusters at once.`,
	});
	return {
		operationId: 'listClusters',
		method: 'GET',
		path: '/api/v1/clusters',
		qs: {
			...(pageSize !== undefined && { 'ListOption.limit': pageSize }),
			...(pageToken !== undefined && { 'ListOption.continue': pageToken }),
		},
		expected: 'a list of work clusters',
		isExpected: isClusterPage,
		idempotent: true,
		wordsOf: (baseUrl) => ({
			action: 'list the work clusters',
			request: 'list clusters',
			byStatus: {
				...(pageSize !== undefined && { 400: refused, 422: refused }),
				404: () => ({
					message: `No list of work clusters at ${truncate(baseUrl)}`,
					advice:
						"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
				}),
			},
		}),
	};
}

/**
 * Work clusters page by page, with the token of the next page. All pages have the same size, since a token may be the
 * number of a page of that size. No cluster comes twice, as one does if another is added to an earlier page meanwhile.
 *
 * @throws ServiceError, also if a page token comes twice, the list has too many pages, or its rest can't be asked for
 */
export async function* clusterPages(
	client: ServiceClient,
	options: RequestOptions,
	{ pageToken, pageSize }: Paging,
): AsyncGenerator<Found & { next: string | undefined }> {
	const tokens = new Set<string | undefined>();
	const uids = new Set<string>();
	let next = pageToken;
	do {
		const call = listClusters({ pageToken: next, pageSize });
		// A later page that fails may not be the end: its token may have expired.
		const page = await client.send(call, options, { hasFallback: tokens.size > 0 });
		const { continue: token, remainingItemCount: remaining } = metadataOf(page);
		const items = page.items ?? [];
		const clusters = items.filter((cluster) => {
			const uid = uidOf(cluster);
			return uid === undefined || (!uids.has(uid) && uids.add(uid));
		});
		const isFirst = next === undefined;
		tokens.add(next);
		// A service that counts may end with 0, as text if it counts with 64 bits.
		next = !token || token === '0' ? undefined : String(token as string | number);
		if (next !== undefined && (tokens.has(next) || tokens.size === MAX_PAGES))
			throw client.unusableAnswerError(call, { kind: 'endlessList' }, options);
		const isSilent = token === undefined && remaining === undefined;
		yield { clusters, next, mayBeMore: isFirst && isSilent && items.length === pageSize };
		if (next === undefined && Number(remaining) > 0)
			throw client.unusableAnswerError(
				call,
				{ kind: 'cutList', remaining: Number(remaining) },
				options,
			);
	} while (next !== undefined);
}

/**
 * The wanted clusters, by no more pages than needed. If a page's token has expired, the list begins again, once.
 *
 * @param limit how many at most; Infinity for all of them
 * @param filter which ones: the service itself can't filter
 * @throws ServiceError, as clusterPages does
 */
export async function allClusters(
	client: ServiceClient,
	options: RequestOptions,
	query: Paging & { limit: number; filter: (cluster: JsonObject) => boolean },
): Promise<Found> {
	const { limit, filter } = query;
	let pages = 0;
	const list = async () => {
		const found: Found = { clusters: [], mayBeMore: false };
		for await (const { clusters, mayBeMore } of clusterPages(client, options, query)) {
			pages += 1;
			found.clusters.push(...clusters.filter(filter));
			if (found.clusters.length >= limit) break;
			found.mayBeMore = mayBeMore;
		}
		return { ...found, clusters: found.clusters.slice(0, limit) };
	};
	return await list().catch(async (error: unknown) => {
		const hasExpired =
			error instanceof ServiceError && error.problem.httpStatus === 410 && pages > 0;
		return await (hasExpired ? list() : Promise.reject(error as Error));
	});
}

/**
 * Whether an answer is a page of clusters: an object whose `items` is a list of objects, null, or left out as what is empty
 * (as by grpc-gateway, or `omitempty` in Go). An error isn't, nor is a list under another name.
 *
 * The interface does not say where the token of the next page is. `ListOption.continue` is the list convention of
 * Kubernetes, which answers with `metadata.continue`, empty or absent at the end. If it can't be sent back, the answer isn't
 * taken: the first page must not pass for the whole list.
 */
function isClusterPage(body: unknown): body is ClusterPage {
	if (!isJsonObject(body)) return false;
	const { items = saysNothing(body) ? [] : undefined } = body;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	const { continue: token } = metadataOf(body);
	return areItems && (!token || typeof token === 'string' || typeof token === 'number');
}

/** Whether an object has nothing but metadata in it: no text, list or object, nor a code. */
function saysNothing(body: JsonObject): boolean {
	const others = { ...body, metadata: null, kind: null, apiVersion: null };
	const isNothing = (value: unknown) => Object.keys(Object(value) as object).length === 0;
	const isFailed = 'code' in body || saysNoSuccess(body) || hasFailedStatus(body);
	return !isFailed && Object.values(others).every(isNothing);
}

function metadataOf({ metadata }: JsonObject): JsonObject {
	return isJsonObject(metadata) ? metadata : {};
}
