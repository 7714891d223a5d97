import { isJsonObject, type JsonObject } from '../../json';
import { truncate } from '../../texts';
import { failureOf } from '../errors/failure';
import { callError } from '../errors/problem';
import type { ServiceRequest } from '../request';
import { ANSWERED } from '../retry/facts';
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
export function listClusters({ pageToken, pageSize }: Paging): ServiceRequest<ClusterPage> {
	const size = `above all Options › Page Size: the service may not allow ${pageSize} clusters at once`;
	return {
		method: 'GET',
		path: '/api/v1/clusters',
		qs: {
			...(pageSize !== undefined && { 'ListOption.limit': pageSize }),
			...(pageToken !== undefined && { 'ListOption.continue': pageToken }),
		},
		expected: 'a list of work clusters',
		isExpected: isClusterPage,
		idempotent: true,
		texts: (baseUrl) => ({
			action: 'list the work clusters',
			ifRefused: `Check this node's fields${pageSize === undefined ? '' : `, ${size}`}.`,
			rows: [
				[
					'404',
					`No list of work clusters at ${truncate(baseUrl)}`,
					"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
				],
			],
		}),
	};
}

/** A request that changes nothing. It shows whether the service answers and whether it accepts a token. */
export const HEALTH_CHECK: ServiceRequest<unknown> = {
	...listClusters({ pageSize: 1 }),
	// Short enough that a failed request doesn't seem to hang.
	maxTimeoutMs: 10_000,
	texts: () => ({
		action: 'answer a health check',
		ifRefused:
			'Ask the administrator of the service whether the user is allowed to list work clusters.',
	}),
};

/** The list that the test of a credential requests. Its errors follow the words "The login works, but". */
export const LIST_OF_TEST: ServiceRequest<unknown> = {
	...HEALTH_CHECK,
	texts: () => ({
		action: 'list the work clusters',
		ifRefused:
			'Ask the administrator of the service why. Creating and changing jobs may still work.',
		rows: [
			[
				'403',
				"This user isn't allowed to list work clusters",
				'Creating and changing jobs may still work.',
			],
			[
				'404',
				'There is no list of work clusters at this address',
				"Check the 'Base URL': it is the part before /api/v1.",
			],
		],
	}),
};

/**
 * Yields the work clusters page by page, with the token of the next page. All pages have the same size, since a token
 * may be the number of a page of that size. Each cluster is yielded once, even if the service lists it twice because
 * another cluster was added to an earlier page meanwhile.
 *
 * @param send sends a request for a page, and returns the body of its response
 * @throws ServiceError if a request fails, a page token comes twice, the list has too many pages, or the service says
 * that more clusters follow but names no token for the next page
 */
export async function* clusterPages(
	send: (request: ServiceRequest<ClusterPage>) => Promise<ClusterPage>,
	{ pageToken, pageSize }: Paging,
): AsyncGenerator<{ clusters: JsonObject[]; next: string | undefined }> {
	const tokens = new Set<string | undefined>();
	const uids = new Set<string>();
	let next = pageToken;
	do {
		const call = listClusters({ pageToken: next, pageSize });
		const page = await send(call);
		const { continue: token, remainingItemCount: remaining } = metadataOf(page);
		const clusters = (page.items ?? []).filter((cluster) => {
			const uid = uidOf(cluster);
			return uid === undefined || (!uids.has(uid) && uids.add(uid));
		});
		tokens.add(next);
		// A service whose tokens are numbers may end the list with 0, which is a text if the numbers have 64 bits.
		next = !token || token === '0' ? undefined : String(token as string | number);
		yield { clusters, next };
		const isEndless = next !== undefined && (tokens.has(next) || tokens.size === MAX_PAGES);
		const isCut = next === undefined && Number(remaining) > 0;
		if (isEndless || isCut) throw callError(call, INCOMPLETE);
	} while (next !== undefined);
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
	const isEmpty = Object.keys(body).every((name) => METADATA.includes(name));
	const { items = isEmpty ? [] : undefined } = body;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	const { continue: token } = metadataOf(body);
	return areItems && (!token || typeof token === 'string' || typeof token === 'number');
}

/** The fields of each list of Kubernetes that aren't clusters. */
const METADATA = ['metadata', 'kind', 'apiVersion'];

/** The failure of a list whose end can't be found. No status says so. */
const INCOMPLETE = failureOf({
	...ANSWERED,
	title: "The list of work clusters can't be read to its end",
	advice:
		"Report this to the administrator of the service. To get only some clusters, turn off 'Return All' and set a low 'Limit'.",
	facts: [
		`A page token came twice, there are more than ${MAX_PAGES} pages, or the last page says that more clusters follow, but has no token of the next page in 'metadata.continue'.`,
	],
});

function metadataOf({ metadata }: JsonObject): JsonObject {
	return isJsonObject(metadata) ? metadata : {};
}
