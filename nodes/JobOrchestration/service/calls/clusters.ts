import { isJsonObject, type JsonObject } from '../../json';
import { truncate } from '../../texts';
import type { ServiceClient } from '../client';
import type { RequestOptions } from '../request';
import { type Call, hasFailureFlag, hasFailureStatus } from './call';
import { uidOf } from './jobs';

/**
 * The maximum number of pages of a list. It is large enough to list 100,000 clusters, and small enough that a list
 * without an end doesn't take hours.
 */
const MAX_PAGES = 1_000;

type ClusterPage = JsonObject & { items?: JsonObject[] | null };

/** The start of a page and its maximum number of clusters. If a value is undefined, the service decides. */
interface Paging {
	pageToken?: string | undefined;
	pageSize?: number | undefined;
}

/** Returns the call that lists one page of the work clusters: `GET /api/v1/clusters`. */
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
		textsOf: (baseUrl) => ({
			action: 'list the work clusters',
			request: 'list clusters',
			byStatus: {
				...(pageSize !== undefined && { 400: refused, 422: refused }),
				404: () => ({
					message: `No list of work clusters at ${truncate(baseUrl)}`,
					advice:
						"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
					isWrongValue: false,
				}),
			},
		}),
	};
}

/**
 * Yields the work clusters page by page, with the token of the next page. All pages have the same size, since a token
 * may be the number of a page of that size. Each cluster is yielded once, even if the service lists it twice because
 * another cluster was added to an earlier page meanwhile.
 *
 * @throws ServiceError if a request fails, a page token comes twice, the list has too many pages, or the service says
 * that more clusters follow but names no token for the next page
 */
export async function* clusterPages(
	client: ServiceClient,
	options: RequestOptions,
	{ pageToken, pageSize }: Paging,
): AsyncGenerator<{ clusters: JsonObject[]; next: string | undefined }> {
	const tokens = new Set<string | undefined>();
	const uids = new Set<string>();
	let next = pageToken;
	do {
		const call = listClusters({ pageToken: next, pageSize });
		const page = await client.send(call, options);
		const { continue: token, remainingItemCount: remaining } = metadataOf(page);
		const items = page.items ?? [];
		const clusters = items.filter((cluster) => {
			const uid = uidOf(cluster);
			return uid === undefined || (!uids.has(uid) && uids.add(uid));
		});
		tokens.add(next);
		// A service whose tokens are numbers may end the list with 0, which is a text if the numbers have 64 bits.
		next = !token || token === '0' ? undefined : String(token as string | number);
		if (next !== undefined && (tokens.has(next) || tokens.size === MAX_PAGES))
			throw client.unusableAnswerError(call, { kind: 'endlessList' }, options);
		yield { clusters, next };
		if (next === undefined && Number(remaining) > 0)
			throw client.unusableAnswerError(
				call,
				{ kind: 'cutList', remaining: Number(remaining) },
				options,
			);
	} while (next !== undefined);
}

/**
 * Returns the clusters that match a filter. It requests no more pages than needed.
 *
 * @param limit the maximum number of clusters; Infinity for all of them
 * @param filter decides which clusters are returned, since the service itself can't filter
 * @throws ServiceError, as clusterPages does
 */
export async function allClusters(
	client: ServiceClient,
	options: RequestOptions,
	query: Paging & { limit: number; filter: (cluster: JsonObject) => boolean },
): Promise<JsonObject[]> {
	const { limit, filter } = query;
	const found: JsonObject[] = [];
	for await (const { clusters } of clusterPages(client, options, query)) {
		found.push(...clusters.filter(filter));
		if (found.length >= limit) break;
	}
	return found.slice(0, limit);
}

/**
 * Decides whether a body is a page of clusters. It is an object whose `items` is a list of objects or null, or is left
 * out because it is empty, as grpc-gateway and `omitempty` in Go do. An error is not a page, nor is a list under
 * another name.
 *
 * The interface document does not say where the token of the next page is. `ListOption.continue` is the list convention
 * of Kubernetes, whose responses have `metadata.continue`, which is empty or absent at the end. If the token can't be
 * sent back, the body is not accepted, since the first page must not pass for the whole list.
 */
function isClusterPage(body: unknown): body is ClusterPage {
	if (!isJsonObject(body)) return false;
	const { items = saysNothing(body) ? [] : undefined } = body;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	const { continue: token } = metadataOf(body);
	return areItems && (!token || typeof token === 'string' || typeof token === 'number');
}

/**
 * Decides whether an object holds nothing but metadata. It has no text, list or object that isn't empty, no `code`, and
 * doesn't say that the request failed. `kind` and `apiVersion` are the texts that each list of Kubernetes has.
 */
function saysNothing(body: JsonObject): boolean {
	const others = { ...body, metadata: null, kind: null, apiVersion: null };
	const isNothing = (value: unknown) => Object.keys(Object(value) as object).length === 0;
	const isFailed = 'code' in body || hasFailureFlag(body) || hasFailureStatus(body);
	return !isFailed && Object.values(others).every(isNothing);
}

function metadataOf({ metadata }: JsonObject): JsonObject {
	return isJsonObject(metadata) ? metadata : {};
}
