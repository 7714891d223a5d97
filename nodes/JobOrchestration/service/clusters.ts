import type { Connection } from './connection';
import type { SendOptions } from './send';
import { CallError, send } from './send';
import type { ClusterPage, JsonRecord } from './shapes';
import { isClusterPage, nextPageOf } from './shapes';

/** Which part of a list is wanted. */
export interface PageRequest {
	/** At most so many clusters. */
	limit: number;
	/** Where the page begins; the list's start where it is undefined. */
	continueFrom?: string | undefined;
}

/** A page of the list of work clusters, as the service sent it: `GET /api/v1/clusters`. */
export async function listClusters(
	connection: Connection,
	{ limit, continueFrom }: PageRequest,
	options: SendOptions,
): Promise<ClusterPage> {
	return await send(
		connection,
		{
			call: { operation: 'listClusters' },
			request: {
				method: 'GET',
				path: '/api/v1/clusters',
				qs: {
					'ListOption.limit': limit,
					...(continueFrom === undefined ? {} : { 'ListOption.continue': continueFrom }),
				},
			},
			wanted: 'a list of work clusters',
			effect: 'none',
			accepts: isClusterPage,
		},
		options,
	);
}

/**
 * The clusters of all pages from one on, at most so many.
 *
 * @param most Infinity for all of them
 * @throws CallError, also where the service sends a page token for the second time: the list would have no end
 */
export async function allClusters(
	connection: Connection,
	{
		pageSize,
		most,
		continueFrom,
	}: { pageSize: number; most: number; continueFrom?: string | undefined },
	options: SendOptions,
): Promise<JsonRecord[]> {
	const clusters: JsonRecord[] = [];
	const visited = new Set<string | undefined>();
	let next = continueFrom;
	do {
		if (visited.has(next)) throw endlessList(connection, options);
		visited.add(next);
		const limit = Math.min(pageSize, most - clusters.length);
		const page = await listClusters(connection, { limit, continueFrom: next }, options);
		for (const cluster of page.items ?? []) {
			if (clusters.length < most) clusters.push(cluster);
		}
		next = nextPageOf(page);
		if (next === undefined || clusters.length >= most) return clusters;
	} while (options.stop?.aborted !== true);
	throw cutShort(connection, options);
}

/** A list that was not read to its end is none: a later try must not take it for one. */
function cutShort({ baseUrl }: Connection, { timeout }: SendOptions): CallError {
	return new CallError(
		{ operation: 'listClusters' },
		{ kind: 'cancelled' },
		{ baseUrl, timeout, timesSent: 1 },
	);
}

function endlessList({ baseUrl }: Connection, { timeout }: SendOptions): CallError {
	return new CallError(
		{ operation: 'listClusters' },
		{ kind: 'endlessList' },
		{ baseUrl, timeout, timesSent: 1 },
	);
}
