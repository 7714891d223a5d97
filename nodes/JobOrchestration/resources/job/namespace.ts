import type { INodeProperties } from 'n8n-workflow';

/** The field that all operations on jobs begin with. */
export const namespaceField: INodeProperties = {
	displayName: 'Namespace',
	name: 'namespace',
	type: 'string',
	required: true,
	default: 'default',
	placeholder: 'e.g. default',
	hint: 'Leave "default" unless you were given another namespace',
	description:
		'ID of the namespace that the job belongs to. A namespace is a part of the service with jobs of its own.',
};
