import type { INodeProperties } from 'n8n-workflow';

/** The field that all operations on jobs begin with. */
export const namespaceField: INodeProperties = {
	displayName: 'Namespace',
	name: 'namespace',
	type: 'string',
	required: true,
	default: 'default',
	placeholder: 'e.g. default',
	hint: 'Leave "default" unless your service gave you another',
	description:
		'Namespace that the job belongs to: a part of the service that keeps jobs apart. Its ID, as text.',
};
