import { collection, number, text, toggle } from '../../fields/form';
import { isJsonObject, type JsonObject } from '../../json';
import { clusterPages, listClusters } from '../../service/calls/clusters';
import { operation, optionsField } from '../operation';

const PAGE_SIZE = 100;
const LIMIT = 50;

/** The maximum number of pairs of type and phase in a hint. A hint with more could not be read at a glance. */
const MAX_KINDS = 10;

export const getAll = operation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many clusters',
	description: 'List the work clusters that jobs can run on',
	fields: [
		toggle('Return All', 'returnAll', {
			description: 'Whether to return all results or only up to a given limit',
		}),
		number('Limit', 'limit', {
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: LIMIT,
			description: 'Max number of results to return',
			// With `show` for false, n8n would drop the limit of a workflow that was written by hand with the text
			// "false".
			displayOptions: { hide: { returnAll: [true] } },
		}),
		collection(
			'Filters',
			'filters',
			[
				text('Phase', 'phase', {
					default: 'Running',
					description: "Only return clusters with this 'status.phase' (not case-sensitive)",
				}),
				text('Type', 'type', {
					placeholder: 'e.g. virtual',
					description: "Only return clusters with this 'type' (not case-sensitive)",
				}),
			],
			{
				placeholder: 'Add Filter',
				description:
					"To filter by other fields, such as the name, add n8n's Filter node after this one",
				// The path starts at the root, because n8n 1.x fails on a relative path that is not the name of a field on
				// the same level.
				displayOptions: { hide: { '/options.rawPage': [true] } },
			},
		),
	],
	options: optionsField(
		text('Continue From', 'continue', {
			description:
				"Token of the page to start from: 'metadata.continue' in the output of 'Raw Page'. Leave it empty to start from the first page.",
		}),
		number('Page Size', 'pageSize', {
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: PAGE_SIZE,
			description: 'Max number of clusters to ask for in one request',
		}),
		toggle('Raw Page', 'rawPage', {
			description:
				'Whether to return a single page as the service sent it, unfiltered, with items and metadata, so that the workflow can do the paging itself',
			displayOptions: { hide: { '/returnAll': [true] } },
		}),
	),
	prepare({ returnAll, limit: given = LIMIT, filters, options }) {
		const limit = returnAll ? Infinity : given;
		const { pageSize = PAGE_SIZE, continue: pageToken } = options;
		const type = filters.type?.trim() ?? '';
		const phase = filters.phase?.trim() ?? '';
		// With a filter, it is unknown how many clusters have to be read to reach the limit.
		const hasFilter = type !== '' || phase !== '';
		const paging = {
			pageToken: pageToken || undefined,
			pageSize: hasFilter ? pageSize : Math.min(pageSize, limit),
		};
		const call = listClusters(paging);
		return {
			call,
			send: async (client, requestOptions) => {
				if (options.rawPage === true) return { output: [await client.send(call, requestOptions)] };
				const kinds = new Set<string>();
				const filter = ({ type: ofType, status }: JsonObject) => {
					const inPhase = isJsonObject(status) ? status.phase : undefined;
					kinds.add(`${shown(ofType)} (${shown(inPhase)})`);
					return matches(ofType, type) && matches(inPhase, phase);
				};
				const sendPage = async (page: typeof call) => await client.send(page, requestOptions);
				const found: JsonObject[] = [];
				for await (const { clusters } of clusterPages(sendPage, paging)) {
					found.push(...clusters.filter(filter));
					if (found.length >= limit) break;
				}
				// Without a hint, an empty list would look as if there were no clusters.
				if (found.length > 0 || kinds.size === 0) return { output: found.slice(0, limit) };
				const kindsFound = [...kinds].sort().slice(0, MAX_KINDS).join(', ');
				const hint = `No cluster matches the filters. Clusters found, as type (phase): ${kindsFound}.`;
				return { output: [], hint: client.redact(hint) };
			},
		};
	},
});

/** Returns a cluster's type or phase as the hint shows it. */
const shown = (value: unknown) => (typeof value === 'string' ? value : 'unknown');

/** Returns whether a cluster's value is the wanted one, regardless of case. */
const matches = (value: unknown, wanted: string) =>
	wanted === '' || (typeof value === 'string' && value.toLowerCase() === wanted.toLowerCase());
