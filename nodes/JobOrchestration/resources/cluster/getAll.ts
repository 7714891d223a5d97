import type { INodeProperties } from 'n8n-workflow';

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
		optionsField(
			{
				displayName: 'Continue From',
				name: 'continue',
				type: 'string',
				default: '',
				description:
					'Token of the page to begin with: metadata.continue of a raw page. Leave it empty to begin at the start.',
			},
			pageSizeOption,
			{
				displayName: 'Raw Page',
				name: 'rawPage',
				type: 'boolean',
				default: false,
				description:
					'Whether to return one page as the service sent it, with items and metadata, so that the workflow can page by itself',
				displayOptions: { show: { '/returnAll': [false] } },
			},
		),
	],
	prepare(give) {
		const returnAll = give('returnAll').boolean();
		const limit = give('limit').optionalNumber({ least: 1, whole: true }) ?? 50;
		const pageSize = readNumber(give, pageSizeOption, { least: 1, whole: true });
		const continueFrom = give('options', 'continue').text() || undefined;
		const rawPage = !returnAll && give('options', 'rawPage').boolean();
		const most = returnAll ? Infinity : limit;

		return async (service) =>
			rawPage
				? [await service.listClusters({ limit: Math.min(pageSize, most), continueFrom })]
				: await service.allClusters({ pageSize, most, continueFrom });
	},
};
