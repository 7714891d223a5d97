import type { INodeProperties } from 'n8n-workflow';

import type { GetField } from '../../parameters/itemParameters';

/** The field Namespace, which all operations on jobs have. */
export const namespaceField: INodeProperties = {
	displayName: 'Namespace',
	name: 'namespace',
	type: 'string',
	required: true,
	default: 'default',
	placeholder: 'e.g. default',
	description:
		'ID of the namespace that the job belongs to: a part of the service that has its own jobs. Leave "default" unless you were given another one.',
};

/**
 * Reads the namespace of an item.
 *
 * @throws FieldError
 */
export function readNamespace(getField: GetField): string {
	return getField(namespaceField.name).pathId();
}
