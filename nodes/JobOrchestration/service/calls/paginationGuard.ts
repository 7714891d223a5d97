import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** How many pages in a row may bring no new cluster. */
const MAX_PAGES_WITHOUT_NEWS = 100;

/** How many pages a list may have; more, up to a bound, where fewer clusters than this are on them. */
const MAX_PAGES = 2_000;
const MAX_CLUSTERS = 100_000;
const MAX_SMALL_PAGES = 10_000;

/** Follows a list page by page, and notices one that has no end. */
export class PaginationGuard {
	private readonly tokens: Set<string | undefined>;
	private readonly uids = new Set<unknown>();
	private readonly maxPages: number;
	private pages = 0;
	private pagesWithoutNews = 0;

	/**
	 * @param firstToken where the first page begins; the list's start where it is undefined
	 * @param pageSize at most so many clusters are on a page
	 */
	constructor(firstToken: string | undefined, pageSize: number) {
		this.tokens = new Set([firstToken]);
		const wanted = Math.ceil(MAX_CLUSTERS / pageSize);
		this.maxPages = Math.min(Math.max(MAX_PAGES, wanted), MAX_SMALL_PAGES);
	}

	/**
	 * To be called after each page.
	 *
	 * @param isEnough whether no further page is wanted: then a token that came twice only matters with a page that brought nothing new
	 * @returns a sentence on what shows that the list has no end; undefined if the next page is to be fetched
	 */
	check(
		items: readonly JsonObject[],
		nextToken: string,
		{ isEnough = false } = {},
	): string | undefined {
		this.pages += 1;
		this.pagesWithoutNews = this.addNew(items) ? 0 : this.pagesWithoutNews + 1;
		const isRepeated = this.tokens.has(nextToken) && (!isEnough || this.pagesWithoutNews > 0);
		if (isRepeated) return 'The same page token came twice.';
		if (isEnough) return undefined;
		this.tokens.add(nextToken);
		if (this.pagesWithoutNews >= MAX_PAGES_WITHOUT_NEWS) {
			return `${MAX_PAGES_WITHOUT_NEWS} pages in a row brought nothing new.`;
		}
		if (this.pages >= this.maxPages) return `After ${this.pages} pages there was still another.`;
		return undefined;
	}

	/** Whether any of these clusters is new. One without an ID counts as new. */
	private addNew(items: readonly JsonObject[]): boolean {
		let isNews = false;
		for (const { metadata } of items) {
			const uid = isJsonObject(metadata) ? metadata.uid : undefined;
			isNews ||= uid === undefined || !this.uids.has(uid);
			this.uids.add(uid);
		}
		return isNews;
	}
}
