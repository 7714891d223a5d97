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
		const filter = readFilter(getField);

		return async (service) => {
			if (!rawPage) {
				return { output: await service.allClusters({ pageSize, limit, pageToken, filter }) };
			}
			const page = { limit: Math.min(pageSize, limit), pageToken };
			return { output: [await service.listClusters(page)] };
		};
	},
};

/** What the filters let through, without regard to case; undefined if none is given. @throws FieldError */
function readFilter(getField: GetField): ((cluster: JsonObject) => boolean) | undefined {
	const type = getField('filters', 'type').text().toLowerCase();
	const phase = getField('filters', 'phase').text().toLowerCase();
	if (type === '' && phase === '') return undefined;
	return (cluster) => {
		const status = isJsonObject(cluster.status) ? cluster.status : {};
		return matches(cluster.type, type) && matches(status.phase, phase);
	};
}

function matches(value: unknown, wanted: string): boolean {
	return wanted === '' || (typeof value === 'string' && value.toLowerCase() === wanted);
}
