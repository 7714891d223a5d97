import { isJsonObject, type JsonObject } from '../../json';
import { allClusters, listClusters } from '../../service/calls/clusters';
import type { Operation, PreparedCall } from '../operation';
import { optionsField } from '../options';

const PAGE_SIZE = 100;

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
			// With `show` for false, n8n would drop the limit of a workflow that was written by hand with the text
			// "false".
			displayOptions: { hide: { returnAll: [true] } },
		},
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'collection',
			placeholder: 'Add Filter',
			default: {},
			// The path starts at the root, because n8n 1.x fails on a relative path that is not the name of a field on
			// the same level.
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
				default: PAGE_SIZE,
				description: 'Max number of clusters to ask for in one request',
			},
			{
				displayName: 'Raw Page',
				name: 'rawPage',
				type: 'boolean',
				default: false,
				description:
					'Whether to return a single page as the service sent it, unfiltered, with items and metadata, so that the workflow can do the paging itself',
				displayOptions: { hide: { '/returnAll': [true] } },
			},
		),
	],
	prepare(getField) {
		const returnAll = getField('returnAll').boolean();
		const limit = returnAll
			? Infinity
			: (getField('limit').optionalNumber({ min: 1, integer: true }) ?? 50);
		const pageSize =
			getField('options', 'pageSize').optionalNumber({ min: 1, integer: true }) ?? PAGE_SIZE;
		const pageToken = getField('options', 'continue').text() || undefined;
		const rawPage = !returnAll && getField('options', 'rawPage').boolean();
		const wantedType = getField('filters', 'type').text();
		const wantedPhase = getField('filters', 'phase').text();
		// With a filter, it is unknown how many clusters have to be read to reach the limit.
		const hasFilter = !rawPage && (wantedType !== '' || wantedPhase !== '');
		const paging = { pageToken, pageSize: hasFilter ? pageSize : Math.min(pageSize, limit) };

		const send: PreparedCall['send'] = async (client, options) => {
			if (rawPage) return { output: [await client.send(listClusters(paging), options)] };
			const kinds = new Set<string>();
			const filter = ({ type, status }: JsonObject) => {
				const phase = isJsonObject(status) ? status.phase : undefined;
				kinds.add(`${textOf(type)} (${textOf(phase)})`);
				return matches(type, wantedType) && matches(phase, wantedPhase);
			};
			const { clusters, mayBeMore } = await allClusters(client, options, {
				...paging,
				limit,
				filter,
			});
			// Without a hint, an empty list would look as if there were no clusters.
			const isHelpful = clusters.length === 0 && kinds.size > 0;
			const shown = [...kinds].sort().slice(0, MAX_KINDS).join(', ');
			const noMatch = `No cluster matches the filters. Clusters found, as type (phase): ${shown}.`;
			const hints = [isHelpful && client.redact(noMatch), mayBeMore && MAY_BE_MORE];
			return { output: clusters, hint: hints.filter(Boolean).join(' ') || undefined };
		};
		return { send };
	},
};

const MAY_BE_MORE =
	'The last page of work clusters was full and named no next page, so there may be more clusters than these.';

/** The maximum number of pairs of type and phase in a hint. A hint with more could not be read at a glance. */
const MAX_KINDS = 10;

const textOf = (value: unknown) => (typeof value === 'string' ? value : 'unknown');

/** Returns whether a cluster's value is the wanted one, regardless of case. */
function matches(value: unknown, wanted: string): boolean {
	if (wanted === '') return true;
	return typeof value === 'string' && value.toLowerCase() === wanted.toLowerCase();
}
