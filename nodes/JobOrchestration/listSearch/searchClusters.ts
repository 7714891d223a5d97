import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { isJsonObject, type JsonObject } from '../json';
import { clusterPages } from '../service/calls/clusters';
import { uidOf } from '../service/calls/jobs';
import { ServiceClient } from '../service/client';
import { nodeErrorOf, ServiceError } from '../service/errors/problem';
import { readCredential } from '../service/session/credential';
import { present } from '../texts';

const PAGE_SIZE = 100;

/**
 * The maximum number of pages for one search. n8n then continues the search with the next page's token. Without a limit,
 * a search that matches nothing would load the whole list before it shows that.
 */
const PAGES_PER_SEARCH = 5;

/**
 * The time to wait for a service that accepts no requests. Without this limit, the list would wait a minute for a
 * service that is receiving too many requests.
 */
const PATIENCE_MS = 5_000;

const OPTIONS = { maxRetries: 1, timeout: 20_000 };

/**
 * Returns one page of the work clusters for the editor's drop-down. The service can't search, so a search reads pages
 * until a cluster matches.
 */
export async function searchClusters(
	this: ILoadOptionsFunctions,
	filter = '',
	pageToken?: string,
): Promise<INodeListSearchResult> {
	const wanted = filter.trim().toLowerCase();
	const search = async (client: ServiceClient, pageSize?: number) => {
		let pagesRead = 0;
		const pages = clusterPages(async (page) => await client.send(page, OPTIONS), {
			pageToken,
			pageSize,
		});
		for await (const { clusters, next } of pages) {
			const results = clusters
				.flatMap(listItemOf)
				.filter(({ name, value }) => `${name}\n${value}`.toLowerCase().includes(wanted));
			pagesRead += 1;
			if (results.length === 0 && pagesRead < PAGES_PER_SEARCH) continue;
			return { results, ...(next !== undefined && { paginationToken: next }) };
		}
		return { results: [] };
	};
	try {
		const credential = await readCredential(this, 0);
		const client = new ServiceClient(this, credential, { patienceMs: PATIENCE_MS });
		return await search(client, PAGE_SIZE).catch(async (error: unknown) => {
			const { httpStatus } = error instanceof ServiceError ? error.problem : {};
			// The service may not allow pages of this size, so the service chooses the size in the second attempt.
			if (httpStatus === 400 || httpStatus === 422) return await search(client);
			throw error;
		});
	} catch (error) {
		throw nodeErrorOf(this.getNode(), error);
	}
}

/**
 * Returns the entry of a cluster in the list, with its type and, if that is unusual, its phase. n8n keeps the name of
 * the entry while the phase may change, so the name says that this was the phase when the cluster was listed.
 */
function listItemOf(cluster: JsonObject) {
	const uid = uidOf(cluster);
	if (uid === undefined) return [];
	const phase = isJsonObject(cluster.status) ? cluster.status.phase : undefined;
	const isUnusual = typeof phase === 'string' && phase !== '' && phase !== 'Running';
	const notes = present([cluster.type as string, isUnusual && `${phase} when listed`]).join(', ');
	const [name = uid] = present([cluster.name as string]);
	return [{ name: notes === '' ? name : `${name} (${notes})`, value: uid }];
}
