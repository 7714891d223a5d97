import { Refusal } from './refusal';

const regions = ['north', 'south', 'east', 'west'] as const;
const firstCreatedAt = Date.UTC(2025, 0, 1);
const minute = 60_000;

export type Cluster = ReturnType<typeof makeCluster>;

/**
 * The work clusters. They aren't stored: each cluster is computed from its number on request, so that a hundred
 * thousand clusters take no more memory than six.
 */
export class Clusters implements Iterable<Cluster> {
	/**
	 * @param count the number of clusters
	 * @param maxPageSize the maximum number of clusters on a page
	 * @param pageNumbers whether the token of a page is its number, counted in pages of the requested size
	 */
	constructor(
		readonly count: number,
		private readonly maxPageSize: number,
		private readonly pageNumbers: boolean,
	) {}

	/** Returns the cluster with this UID; undefined if no cluster has this UID. */
	byUid(uid: string): Cluster | undefined {
		const index = Number(uid.replace('wc-', '')) - 1;
		const isThere =
			Number.isInteger(index) && index >= 0 && index < this.count && uidOf(index) === uid;
		return isThere ? makeCluster(index) : undefined;
	}

	/**
	 * Returns a page of clusters. The time that this takes depends only on the size of the page.
	 * @param limit the maximum number of clusters; undefined for `maxPageSize`
	 * @param token the `metadata.continue` of the previous page; undefined for the first page
	 * @throws Refusal 400, if no page has this token
	 */
	page(limit: number | undefined, token: string | undefined) {
		const size = Math.min(limit ?? this.maxPageSize, this.maxPageSize);
		const start = token === undefined ? 0 : this.startOf(token, size);
		const end = Math.min(start + size, this.count);
		const items = Array.from({ length: end - start }, (_, offset) => makeCluster(start + offset));
		const next = this.pageNumbers ? String(Math.floor(start / size) + 2) : `at:${end}`;
		return { items, metadata: end < this.count ? { continue: next } : {} };
	}

	*[Symbol.iterator](): Iterator<Cluster> {
		for (let index = 0; index < this.count; index += 1) yield makeCluster(index);
	}

	private startOf(token: string, size: number): number {
		const page = /^[1-9]\d{0,8}$/.exec(token)?.[0];
		const at = /^at:(\d{1,12})$/.exec(token)?.[1];
		const start = this.pageNumbers ? (Number(page) - 1) * size : Number(at);
		if (!(start < this.count)) {
			const message = 'querystring/ListOption.continue is not a token that an earlier page gave';
			throw new Refusal(400, 'bad_request', message);
		}
		return start;
	}
}

function uidOf(index: number): string {
	return `wc-${String(index + 1).padStart(6, '0')}`;
}

function makeCluster(index: number) {
	const type = index % 3 === 0 ? 'master' : 'virtual';
	const region = regions[index % regions.length] ?? regions[0];
	const createdAt = firstCreatedAt + index * minute;
	return {
		metadata: { uid: uidOf(index) },
		name: `${region}-${type}-${index + 1}`,
		type,
		self: index === 0,
		...(type === 'virtual' && { selector: { region } }),
		status: {
			createdAt: new Date(createdAt).toISOString(),
			updatedAt: new Date(createdAt + 360 * minute).toISOString(),
			phase: index % 5 === 3 ? 'Pending' : 'Running',
		},
	};
}
