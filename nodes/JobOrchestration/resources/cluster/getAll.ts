import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';
import type { GetField } from '../../parameters/itemParameters';
import type { Operation } from '../operation';
import { optionsField } from '../options';

export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many clusters',
	description: 'List the work clusters that jobs can run on',
	fields: [
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 50,
			description: 'Max number of results to return',
			displayOptions: { show: { returnAll: [false] } },
		},
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'collection',
			placeholder: 'Add Filter',
			default: {},
			// The path starts at the root: n8n 1.x fails on a name that is not among this collection's fields.
			displayOptions: { hide: { '/options.rawPage': [true] } },
			options: [
				{
					displayName: 'Phase',
					name: 'phase',
					type: 'string',
					default: 'Running',
					description: "Only return clusters with this 'status.phase' (not case-sensitive)",
				},
				{
					displayName: 'Type',
					name: 'type',
					type: 'string',
					default: '',
					placeholder: 'e.g. virtual',
					description: "Only return clusters with this 'type' (not case-sensitive)",
				},
			],
		},
		optionsField(
			{
				displayName: 'Continue From',
				name: 'continue',
				type: 'string',
				default: '',
				description:
					"Token of the page to start from: 'metadata.continue' in the output of 'Raw Page'. Leave it empty to start from the first page.",
			},
			{
				displayName: 'Page Size',
				name: 'pageSize',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 100,
				description: 'Max number of clusters to ask for in one request',
			},
			{
				displayName: 'Raw Page',
				name: 'rawPage',
				type: 'boolean',
				default: false,
				description:
					'Whether to return a single page as the service sent it, unfiltered, with items and metadata, so that the workflow can do the paging itself',
				displayOptions: { show: { '/returnAll': [false] } },
			},
		),
	],
	prepare(getField) {
		const returnAll = getField('returnAll').boolean();
		const limit = returnAll
			? Infinity
			: (getField('limit').optionalNumber({ min: 1, integer: true }) ?? 50);
		const pageSize =
			getField('options', 'pageSize').optionalNumber({ min: 1, integer: true }) ?? 100;
		const pageToken = getField('options', 'continue').text() || undefined;
		const rawPage = !returnAll && getField('options', 'rawPage').boolean();
		const filters = readFilters(getField);

		return async (service) => {
			if (rawPage) {
				const page = { limit: Math.min(pageSize, limit), pageToken };
				return { output: [await service.listClusters(page)] };
			}
			if (filters.length === 0) {
				return { output: await service.allClusters({ pageSize, limit, pageToken }) };
			}
			let seen = 0;
			const filter = (cluster: JsonObject) => {
				seen += 1;
				for (const { found, valueOf } of filters) found.add(valueOf(cluster));
				return filters.every(({ wanted, valueOf }) => valueOf(cluster).toLowerCase() === wanted);
			};
			const output = await service.allClusters({ pageSize, limit, pageToken, filter });
			const hasNoMatch = output.length === 0 && seen > 0;
			return { output, hint: hasNoMatch ? service.redact(noMatch(seen, filters)) : undefined };
		};
	},
};

/** A filter that is given. It is compared without regard to case. */
interface Filter {
	plural: string;
	/** In lower case. */
	wanted: string;
	valueOf: (cluster: JsonObject) => string;
	/** The values of the clusters that came. */
	found: Set<string>;
}

/** @throws FieldError */
function readFilters(getField: GetField): Filter[] {
	const filterBy = (name: string, plural: string, valueOf: Filter['valueOf']): Filter => {
		const wanted = getField('filters', name).text().toLowerCase();
		return { plural, wanted, valueOf, found: new Set() };
	};
	return [
		filterBy('type', 'Types', ({ type }) => textOf(type)),
		filterBy('phase', 'Phases', ({ status }) => textOf(isJsonObject(status) && status.phase)),
	].filter(({ wanted }) => wanted !== '');
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

/** A hint with more values could not be read at a glance. */
const MAX_VALUES = 10;

/** Says what the clusters have instead: an empty list would look as if there were none. */
function noMatch(count: number, filters: Filter[]): string {
	const lists = filters.map(({ plural, found }) => {
		const values = [...found].filter((value) => value !== '').sort();
		if (values.length > MAX_VALUES) values.splice(MAX_VALUES, Infinity, '…');
		return `${plural} found: ${values.join(', ') || 'none'}.`;
	});
	return `None of the clusters matches (${count} in all). ${lists.join(' ')}`;
}
