import { Refusal } from './refusal';

const regions = ['north', 'south', 'east', 'west'] as const;
const firstCreatedAt = Date.UTC(2025, 0, 1);
const minute = 60_000;

export type Cluster = ReturnType<typeof makeCluster>;

/**
 * The work clusters. None is kept: each is made from its number when it is asked for, always the same,
 * so that a hundred thousand cost no more than six.
 */
export class Clusters implements Iterable<Cluster> {
	/**
	 * @param count how many clusters there are
	 * @param maxPageSize the most that a page holds
	 * @param pageNumbers whether a page's token is its number, with the size that it is asked for with
	 */
	constructor(
		readonly count: number,
		private readonly maxPageSize: number,
		private readonly pageNumbers: boolean,
	) {}

	/** The cluster with this uid, or undefined. */
	byUid(uid: string): Cluster | undefined {
		const digits = /^wc-(\d{6,12})$/.exec(uid)?.[1];
		if (digits === undefined) return undefined;
		const index = Number(digits) - 1;
		const isThere = index >= 0 && index < this.count && uidOf(index) === uid;
		return isThere ? makeCluster(index) : undefined;
	}

	/**
	 * A page of clusters; the work done is that of the page, wherever it starts.
	 * @param limit the most that it holds; undefined for the size of a page
	 * @param token the `metadata.continue` of the page before, or undefined for the first page
	 * @throws Refusal 400, when no page gave this token
	 */
	page(limit: number | undefined, token: string | undefined) {
		const size = Math.min(limit ?? this.maxPageSize, this.maxPageSize);
		const start = token === undefined ? 0 : this.startOf(token, size);
		const end = Math.min(start + size, this.count);
		const items = Array.from({ length: end - start }, (_, offset) => makeCluster(start + offset));
		const next = this.pageNumbers ? String(Math.floor(start / size) + 2) : tokenFor(end);
		return { items, metadata: end < this.count ? { continue: next } : {} };
	}

	*[Symbol.iterator](): Iterator<Cluster> {
		for (let index = 0; index < this.count; index += 1) yield makeCluster(index);
	}

	private startOf(token: string, size: number): number {
		const page = /^[1-9]\d{0,8}$/.exec(token)?.[0];
		const at = /^at:(\d{1,12})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
		const start = this.pageNumbers ? (Number(page) - 1) * size : Number(at);
		const isGiven = this.pageNumbers || tokenFor(start) === token;
		if (!isGiven || !(start < this.count)) {
			const message = 'querystring/ListOption.continue is not a token that an earlier page gave';
			throw new Refusal(400, 'bad_request', message);
		}
		return start;
	}
}

function tokenFor(start: number): string {
	return Buffer.from(`at:${start}`).toString('base64url');
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
