import { number, text, toggle, type ValuesOf } from '../fields/form';
import type { JsonObject } from '../json';
import { type List, listPage, type Page, PAGE_SIZE, readList } from '../service/calls/lists';
import type { ServiceClient } from '../service/client';
import type { RequestOptions, ServiceRequest } from '../service/request';
import { optionsField } from './operation';

/*
 * The fields of each operation that lists something, and what they mean.
 */

const LIMIT = 50;

/** The fields that say how many elements are wanted. */
export const listFields = [
	toggle('Return All', 'returnAll', {
		description: 'Whether to return all results or only up to a given limit',
	}),
	number('Limit', 'limit', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: LIMIT,
		description: 'Max number of results to return',
		// With `show` for false, n8n would drop the limit of a workflow that was written by hand with the text "false".
		displayOptions: { hide: { returnAll: [true] } },
	}),
];

/** Returns the field Options of a list. */
export const listOptions = ({ elements }: List) =>
	optionsField(
		text('Continue From', 'continue', {
			description:
				"Token of the page to start from: 'metadata.continue' in the output of 'Raw Page'. Leave it empty to start from the first page.",
		}),
		number('Page Size', 'pageSize', {
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: PAGE_SIZE,
			description: `Max number of ${elements} to ask for in one request`,
		}),
		toggle('Raw Page', 'rawPage', {
			description:
				'Whether to return a single page as the service sent it, unfiltered, with items and metadata, so that the workflow can do the paging itself',
			displayOptions: { hide: { '/returnAll': [true] } },
		}),
	);

/**
 * Returns what `prepare` of an operation returns. The output is the page itself with Raw Page, or else the elements, at
 * most as many as Limit says.
 *
 * @param filter decides which elements are wanted, and returns a hint if none is; undefined if all are wanted
 */
export function listing(
	list: List,
	values: ValuesOf<[...typeof listFields, ReturnType<typeof listOptions>]>,
	filter?: { isWanted: (element: JsonObject) => boolean; hintIfNone: () => string | undefined },
) {
	const { rawPage, pageSize = PAGE_SIZE, continue: pageToken } = values.options;
	const limit = values.returnAll ? Infinity : (values.limit ?? LIMIT);
	// With a filter, it is unknown how many elements have to be read to reach the limit.
	const size = filter === undefined ? Math.min(pageSize, limit) : pageSize;
	const paging = {
		pageToken: pageToken || undefined,
		pageSize: size,
		ifRefused: `Check this node's fields, above all Options › Page Size: the service may not allow ${size} ${list.elements} at once.`,
	};
	const call = listPage(list, paging);
	return {
		call,
		send: async (client: ServiceClient, options: RequestOptions) => {
			const read = async (page: ServiceRequest<Page>) => await client.send(page, options);
			if (rawPage === true) {
				const end = await read(call);
				return end && 'body' in end ? { output: [end.body] } : end;
			}
			const reading = { ...paging, filter: filter?.isWanted, enough: limit };
			const end = await readList(list, read, reading);
			if (end === undefined || 'problem' in end) return end;
			const hint = end.found.length === 0 ? filter?.hintIfNone() : undefined;
			return { output: end.found.slice(0, limit), hint: hint && client.redact(hint) };
		},
	};
}
