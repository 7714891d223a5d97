import type { INodeProperties } from 'n8n-workflow';

import type { SendOptions } from '../service/calls/serviceClient';
import type { GetField } from './operation';

const concurrency: INodeProperties = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 10,
	description:
		'Max number of requests to have under way at once. Without this option, the node adapts to the pace of the service. The value of the first item applies to all items.',
};

const maxRetries: INodeProperties = {
	displayName: 'Max Request Retries',
	name: 'maxRetries',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 3,
	description:
		"Max number of times to send a failed request again. A request to create a job is only sent again if the service can't have created the job. 0 turns retries off.",
};

const timeout: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60_000,
	hint: 'In milliseconds: 60000 is one minute',
	description: 'How long to wait for the answer to one request',
};

/** The field Options: the options that all operations have and those of one, in alphabetical order. */
export function optionsField(...own: INodeProperties[]): INodeProperties {
	const options = [concurrency, maxRetries, timeout, ...own];
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1)),
	};
}

/** @throws FieldError */
export function readConcurrency(getField: GetField): number | undefined {
	return getField('options', concurrency.name).optionalNumber({ min: 1, integer: true });
}

/** @throws FieldError */
export function readSendOptions(getField: GetField): SendOptions {
	return {
		maxRetries: readNumber(getField, maxRetries, { min: 0, integer: true }),
		timeout: readNumber(getField, timeout, { min: 1 }),
	};
}

/** An option that is a number; its default if the item has none. @throws FieldError */
export function readNumber(
	getField: GetField,
	{ name, default: fallback }: INodeProperties,
	bounds: { min: number; integer?: boolean },
): number {
	return getField('options', name).optionalNumber(bounds) ?? Number(fallback);
}
