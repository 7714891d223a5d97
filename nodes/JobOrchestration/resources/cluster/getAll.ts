import { collection, text } from '../../fields/form';
import type { JsonObject } from '../../json';
import { kindOf, WORK_CLUSTERS } from '../../service/calls/clusters';
import { MAX } from '../../texts';
import { listFields, listing, listOptions } from '../list';
import { operation } from '../operation';

export const getAll = operation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many clusters',
	description: 'List the work clusters that jobs can run on',
	fields: [
		...listFields,
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
	options: listOptions(WORK_CLUSTERS),
	prepare({ filters, ...values }) {
		const wanted = { type: filters.type?.trim(), phase: filters.phase?.trim() };
		const kinds = new Set<string>();
		const isWanted = (cluster: JsonObject) => {
			const { type, phase } = kindOf(cluster);
			kinds.add(`${type || 'unknown'} (${phase || 'unknown'})`);
			return matches(type, wanted.type) && matches(phase, wanted.phase);
		};
		// Without a hint, an empty list would look as if there were no clusters.
		const hintIfNone = () => {
			const found = [...kinds].sort().slice(0, MAX.kindsOfClusters).join(', ');
			const hint = `No cluster matches the filters. Clusters found, as type (phase): ${found}.`;
			return found === '' ? undefined : hint;
		};
		const hasFilter = Boolean(wanted.type) || Boolean(wanted.phase);
		return listing(WORK_CLUSTERS, values, hasFilter ? { isWanted, hintIfNone } : undefined);
	},
});

/** Returns whether a cluster's value is the wanted one, regardless of case. Each is, if none is wanted. */
const matches = (value = '', wanted = '') =>
	wanted === '' || value.toLowerCase() === wanted.toLowerCase();
