import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';
import { saysFailed } from '../errors/response';
import { ServiceError } from '../errors/serviceError';
import { truncate } from '../errors/statusTexts';
import type { Call } from './callError';
import { uidOf } from './jobs';
import type { ServiceClient } from './serviceClient';

/**
 * Pages of a list at most. With fewer, a list of 100,000 clusters would fail; with more, one without an end would be
 * followed for hours.
 */
const MAX_PAGES = 1_000;

export interface ClusterPage extends JsonObject {
	items?: JsonObject[] | null;
}

/** Where a page begins, and how many clusters it has at most; if undefined, the service decides. */
interface Paging {
	pageToken?: string | undefined;
	pageSize?: number | undefined;
}

interface Found {
	clusters: JsonObject[];
	/** Whether the last page was full, and said neither that it is the last nor where the next one begins. */
	mayBeMore: boolean;
}

/** A page of the list of work clusters: `GET /api/v1/clusters`. */
export function listClusters({ pageToken, pageSize }: Paging): Call<ClusterPage> {
	const refused = {
		advice: `Check this node's fields, above all Options › Page Size: the service may not allow ${pageSize} clusters at once.`,
	};
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
				404: {
					message: `No list of work clusters at ${truncate(baseUrl)}`,
					advice:
						"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
				},
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
	service: ServiceClient,
	{ pageToken, pageSize }: Paging,
): AsyncGenerator<Found & { next: string | undefined }> {
	const tokens = new Set<string | undefined>();
	const uids = new Set<string>();
	for (let next = pageToken; ; ) {
		const call = listClusters({ pageToken: next, pageSize });
		const endless = () => service.errorOf(call, { kind: 'endlessList' });
		// A later page that fails may not be the end: its token may have expired.
		const page = await service.send(call, { mayGoOn: tokens.size > 0 });
		const items = page.items ?? [];
		const { continue: token, remainingItemCount } = metadataOf(page);
		const remaining = Number(remainingItemCount ?? Number.NaN);
		tokens.add(next);
		next = nextPageTokenOf(page);
		if (next !== undefined && tokens.has(next)) throw endless();
		const clusters = items.filter((cluster) => {
			const uid = uidOf(cluster);
			return uid === undefined || (!uids.has(uid) && uids.add(uid));
		});
		const saysNothing = token === undefined && Number.isNaN(remaining);
		yield { clusters, next, mayBeMore: saysNothing && items.length === pageSize };
		if (next === undefined && remaining > 0)
			throw service.errorOf(call, { kind: 'cutList', remaining });
		if (next === undefined) return;
		if (tokens.size === MAX_PAGES) throw endless();
	}
}

/**
 * The wanted clusters, by no more pages than needed. If a page's token has expired, the list begins again, once.
 *
 * @param limit how many at most; Infinity for all of them
 * @param filter which ones: the service itself can't filter
 * @throws ServiceError, as clusterPages does
 */
export async function allClusters(
	service: ServiceClient,
	{
		limit,
		filter,
		...paging
	}: Paging & { limit: number; filter: (cluster: JsonObject) => boolean },
): Promise<Found> {
	let pages = 0;
	const list = async () => {
		const found: Found = { clusters: [], mayBeMore: false };
		for await (const { clusters, mayBeMore } of clusterPages(service, paging)) {
			pages += 1;
			found.clusters.push(...clusters.filter(filter));
			if (found.clusters.length >= limit) break;
			found.mayBeMore = mayBeMore;
		}
		return { ...found, clusters: found.clusters.slice(0, limit) };
	};
	return await list().catch(async (error: unknown) => {
		const hasExpired = error instanceof ServiceError && error.httpStatus === 410 && pages > 0;
		return await (hasExpired ? list() : Promise.reject(error as Error));
	});
}

/**
 * Whether an answer is a page of clusters: an object whose `items` is a list of objects, null, or left out. Where the next
 * page begins, it must say in a way that can be sent back: the first page must not be taken for the whole list.
 */
function isClusterPage(body: unknown): body is ClusterPage {
	if (!isJsonObject(body)) return false;
	const { items = isEmptyList(body) ? null : undefined } = body;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	const next = metadataOf(body).continue;
	return areItems && (!next || typeof next === 'string' || typeof next === 'number');
}

/**
 * Whether an object without `items` says nothing: services that leave out what is empty (grpc-gateway, `omitempty` in Go)
 * answer so for an empty list. An error says something, as does a list under another name.
 */
function isEmptyList(body: JsonObject): boolean {
	const saysSomething = ([name, value]: [string, unknown]) =>
		name === 'code' ||
		(!['metadata', 'kind', 'apiVersion'].includes(name) && Object.keys(Object(value)).length > 0);
	return !saysFailed(body) && !Object.entries(body).some(saysSomething);
}

/**
 * The token of the page after this one; undefined on the last page.
 *
 * The interface does not say where the service puts it. `ListOption.continue` is the list convention of Kubernetes, which
 * answers with `metadata.continue`, empty or absent at the end. A service that counts may send 0, as text if it has 64 bits.
 */
function nextPageTokenOf(page: ClusterPage): string | undefined {
	const token = metadataOf(page).continue;
	return !token || token === '0' ? undefined : String(token as string | number);
}

function metadataOf({ metadata }: JsonObject): JsonObject {
	return isJsonObject(metadata) ? metadata : {};
}
