import { isJsonObject, type JsonObject } from '../../json';
import { truncate } from '../../texts';
import type { Problem } from '../errors/problem';
import type { ServiceRequest } from '../request';
import { uidOf } from './jobs';

/*
 * The lists of the service, which are read page by page. The interface document does not say where the token of the next
 * page is. `ListOption.continue` is the list convention of Kubernetes, whose responses have `metadata.continue`, which is
 * empty or absent at the end.
 */

/** A list of the service. */
export interface List {
	path: string;
	/** What the list contains, as the form and its advice name it: "clusters". */
	elements: string;
	/** The same as errors name it: "work clusters". */
	fullName: string;
}

/** The number of elements that are requested per page. The service may set another limit. */
export const PAGE_SIZE = 100;

/** A page of a list, as the service sends it. */
export type Page = JsonObject & { items?: JsonObject[] | null };

/** Which page is requested. */
export interface Paging {
	/** The token of the page; undefined for the first page. */
	pageToken?: string | undefined;
	/** The maximum number of elements of the page; undefined if the service decides. */
	pageSize?: number | undefined;
	/** What the user should do if the service refuses the request because of a wrong value. */
	ifRefused: string;
}

/** Returns the call that lists one page: `GET <path>`. */
export function listPage(
	{ path, fullName }: List,
	{ pageToken, pageSize, ifRefused }: Paging,
): ServiceRequest<Page> {
	return {
		method: 'GET',
		path,
		qs: {
			...(pageSize !== undefined && { 'ListOption.limit': pageSize }),
			...(pageToken !== undefined && { 'ListOption.continue': pageToken }),
		},
		expected: `a list of ${fullName}`,
		isExpected: isPage,
		idempotent: true,
		errorTexts: (baseUrl) => ({
			action: `list the ${fullName}`,
			ifRefused,
			rows: [
				[
					'404',
					`No list of ${fullName} at ${truncate(baseUrl)}`,
					"Check the 'Base URL' in the credential: it is the part of the address before /api/v1.",
				],
			],
		}),
	};
}

/**
 * The maximum number of pages of a list. It is large enough to list 100,000 elements, and small enough that a list
 * without an end doesn't take hours.
 */
const MAX_PAGES = 1_000;

/**
 * Reads a list page by page, until enough elements match or the list ends. All pages have the same size, since a token
 * may be the number of a page of that size. Each element is returned once, even if the service lists it twice because
 * another element was added to an earlier page meanwhile.
 *
 * @param send sends a request for a page, and returns the body of its response
 * @param enough the number of matching elements after which no further page is read
 * @param maxPages the number of pages after which no further page is read
 * @returns the matching elements of all pages that were read, and the token of the page after them. If a request fails
 * or isn't sent, returns how it ended. It is a problem, too, if a page token comes twice, the list has too many pages, or
 * the service says that more elements follow but names no token for the next page
 */
export async function readList(
	list: List,
	send: (page: ServiceRequest<Page>) => Promise<{ body: Page } | { problem: Problem } | undefined>,
	{
		filter = () => true,
		enough,
		maxPages = Infinity,
		...paging
	}: Paging & {
		filter?: ((element: JsonObject) => boolean) | undefined;
		enough: number;
		maxPages?: number;
	},
): Promise<{ found: JsonObject[]; next: string | undefined } | { problem: Problem } | undefined> {
	const found: JsonObject[] = [];
	/** The elements that were read, by their IDs if they have any. */
	const seen = new Set<unknown>();
	const pageTokens = new Set<string | undefined>();
	for (let pageToken = paging.pageToken; ; ) {
		const end = await send(listPage(list, { ...paging, pageToken }));
		if (end === undefined || 'problem' in end) return end;
		const { body: page } = end;
		for (const element of page.items ?? []) {
			const identity = uidOf(element) ?? element;
			if (seen.has(identity)) continue;
			seen.add(identity);
			if (filter(element)) found.push(element);
		}
		pageTokens.add(pageToken);
		const next = nextTokenIn(page) || undefined;
		if (found.length >= enough || pageTokens.size === maxPages) return { found, next };
		const isEndless = next !== undefined && (pageTokens.has(next) || pageTokens.size === MAX_PAGES);
		const isCut = next === undefined && Number(metadataOf(page).remainingItemCount) > 0;
		if (isEndless || isCut) return { problem: endNotFound(list) };
		if (next === undefined) return { found, next };
		pageToken = next;
	}
}

/** Returns the problem of a list whose end can't be found. No status says so. */
const endNotFound = ({ elements, fullName }: List): Problem => ({
	title: `The list of ${fullName} can't be read to its end`,
	advice: `Report this to the administrator of the service. To get only some ${elements}, turn off 'Return All' and set a low 'Limit'.`,
	facts: [
		`A page token came twice, there are more than ${MAX_PAGES} pages, or the last page says that more ${elements} follow, but has no token of the next page in 'metadata.continue'.`,
	],
	httpStatus: null,
});

/** The fields of each list of Kubernetes that aren't elements. */
const METADATA = ['metadata', 'kind', 'apiVersion'];

/**
 * Decides whether a body is a page of a list. It is an object whose `items` is a list of objects or null, or is left out
 * because it is empty, as grpc-gateway and `omitempty` in Go do. An error is not a page, nor is a list under another
 * name. If the token of the next page can't be sent back, the body is not accepted, since the first page must not pass
 * for the whole list.
 */
function isPage(body: unknown): body is Page {
	if (!isJsonObject(body)) return false;
	const isEmpty = Object.keys(body).every((name) => METADATA.includes(name));
	const { items = isEmpty ? [] : undefined } = body;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	return areItems && nextTokenIn(body) !== undefined;
}

/** Returns the token of the next page: '' for the last page, undefined if the token can't be sent back. */
function nextTokenIn(page: JsonObject): string | undefined {
	const { continue: token } = metadataOf(page);
	// A service whose tokens are numbers may end the list with 0, which is a text if the numbers have 64 bits.
	if (!token || token === '0') return '';
	return typeof token === 'string' || typeof token === 'number' ? String(token) : undefined;
}

function metadataOf({ metadata }: JsonObject): JsonObject {
	return isJsonObject(metadata) ? metadata : {};
}
