import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import type { JsonObject } from '../json';
import { kindOf, WORK_CLUSTERS } from '../service/calls/clusters';
import { uidOf } from '../service/calls/jobs';
import { PAGE_SIZE, readList } from '../service/calls/lists';
import { ServiceClient } from '../service/client';
import { nodeErrorOf, problemOf } from '../service/errors/problem';
import { readCredential } from '../service/session/credential';
import { present } from '../texts';

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
	const isWanted = ({ name, value }: INodeListSearchItems) =>
		`${name}\n${value}`.toLowerCase().includes(wanted);
	const search = async () => {
		const credential = await readCredential(this, 0);
		const client = new ServiceClient(this, credential, { patienceMs: PATIENCE_MS });
		return await readList(WORK_CLUSTERS, async (page) => await client.send(page, OPTIONS), {
			pageToken,
			pageSize: PAGE_SIZE,
			filter: (cluster) => listItemsOf(cluster).some(isWanted),
			enough: 1,
			maxPages: PAGES_PER_SEARCH,
			ifRefused: `Choose 'By ID' in the field 'Work Cluster', and enter the ID of the cluster. The service may not allow ${PAGE_SIZE} clusters at once.`,
		});
	};
	const end = await search().catch((cause: unknown) => ({ problem: problemOf(cause) }));
	if (end === undefined || 'problem' in end)
		throw nodeErrorOf(this.getNode(), undefined, end?.problem);
	const { found, next } = end;
	const results = found.flatMap(listItemsOf);
	return { results, ...(next !== undefined && { paginationToken: next }) };
}

/**
 * Returns the entry of a cluster in the list, or none if the cluster has no ID. The entry names the type and, if that is
 * unusual, the phase. n8n keeps the name of the entry while the phase may change, so the name says that this was the
 * phase when the cluster was listed.
 */
function listItemsOf(cluster: JsonObject): INodeListSearchItems[] {
	const uid = uidOf(cluster);
	if (uid === undefined) return [];
	const { type, phase = '' } = kindOf(cluster);
	const isUnusual = !['', 'Running'].includes(phase);
	const notes = present([type, isUnusual && `${phase} when listed`]).join(', ');
	const [name = uid] = present([cluster.name as string]);
	return [{ name: notes === '' ? name : `${name} (${notes})`, value: uid }];
}
