import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { nodeErrorOf } from '../execution/errors';
import { Connection } from '../service/connection';
import { Service } from '../service/service';
import type { JsonRecord } from '../service/shapes';
import { isRecord, nextPageOf } from '../service/shapes';

const PAGE_SIZE = 100;

/** How many pages are looked through for a search before what was found is shown. */
const PAGES_PER_SEARCH = 20;

const OPTIONS = { maxRetries: 1, timeout: 20_000 };

/**
 * The work clusters for the drop-down of the editor, page by page. The service can't search, so a search
 * looks through pages until it has found something.
 *
 * @param filter what the user typed
 * @param paginationToken where the last page ended
 */
export async function searchClusters(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	try {
		const service = new Service(await Connection.open(this), OPTIONS);
		return await search(service, filter?.trim().toLowerCase() ?? '', paginationToken);
	} catch (error) {
		throw nodeErrorOf(this.getNode(), error);
	}
}

async function search(
	service: Service,
	wanted: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	let next = paginationToken;
	for (let pages = 1; ; pages += 1) {
		const page = await service.listClusters({ limit: PAGE_SIZE, continueFrom: next });
		const results = (page.items ?? [])
			.flatMap(listItemOf)
			.filter(({ name, value }) => `${name}\n${value}`.toLowerCase().includes(wanted));
		next = nextPageOf(page);
		if (next === undefined) return { results };
		if (results.length > 0 || pages === PAGES_PER_SEARCH) {
			return { results, paginationToken: next };
		}
	}
}

/** A cluster as the list shows it, with its type, and its phase where it isn't running; none without an id. */
function listItemOf(cluster: JsonRecord): INodeListSearchItems[] {
	const uid = isRecord(cluster.metadata) ? cluster.metadata.uid : undefined;
	if (typeof uid !== 'string' || uid === '') return [];
	const phase = isRecord(cluster.status) ? cluster.status.phase : undefined;
	const notes = [cluster.type, phase === 'Running' ? undefined : phase].filter(
		(note) => typeof note === 'string' && note !== '',
	);
	const name = typeof cluster.name === 'string' && cluster.name !== '' ? cluster.name : uid;
	return [{ name: notes.length === 0 ? name : `${name} (${notes.join(', ')})`, value: uid }];
}
