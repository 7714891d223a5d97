import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';
import type { GetField } from '../../parameters/itemParameters';
import type { Operation } from '../operation';
import { optionsField, readNumber } from '../options';

const pageSizeOption: INodeProperties = {
	displayName: 'Page Size',
	name: 'pageSize',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 100,
	description: 'Max number of clusters to ask for in one request',
};

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
					description: "Only return clusters with this 'status.phase', in upper or lower case",
				},
				{
					displayName: 'Type',
					name: 'type',
					type: 'string',
					default: '',
					placeholder: 'e.g. virtual',
					description: "Only return clusters with this 'type', in upper or lower case",
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
			pageSizeOption,
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
		const pageSize = readNumber(getField, pageSizeOption, { min: 1, integer: true });
		const pageToken = getField('options', 'continue').text() || undefined;
		const rawPage = !returnAll && getField('options', 'rawPage').boolean();
		const filter = readFilters(getField);

		return async (client) =>
			rawPage
				? [await client.listClusters({ limit: Math.min(pageSize, limit), pageToken })]
				: await client.allClusters({ pageSize, limit, pageToken, filter });
	},
};

/** Whether a cluster passes the filters, without regard to case; undefined if there are none. @throws FieldError */
function readFilters(getField: GetField): ((cluster: JsonObject) => boolean) | undefined {
	const phase = getField('filters', 'phase').text();
	const type = getField('filters', 'type').text();
	if (phase === '' && type === '') return undefined;
	return ({ status, type: ownType }) =>
		matches(phase, isJsonObject(status) ? status.phase : undefined) && matches(type, ownType);
}

function matches(wanted: string, value: unknown): boolean {
	if (wanted === '') return true;
	return typeof value === 'string' && value.toLowerCase() === wanted.toLowerCase();
}
