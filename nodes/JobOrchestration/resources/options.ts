import type { INodeProperties } from 'n8n-workflow';

import type { SendOptions } from '../service/service';
import type { Give } from './operation';

const concurrency: INodeProperties = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 10,
	description: "Max number of requests under way at once. The first item's value counts.",
};

const maxRetries: INodeProperties = {
	displayName: 'Max Request Retries',
	name: 'maxRetries',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 3,
	description:
		'How often a request that failed is sent again, if that is safe: creating a job is only repeated when the service cannot have made the job. 0 turns it off.',
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

/** The field Options: what all operations have, and what one adds to it, in alphabetical order. */
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
export function readConcurrency(give: Give): number {
	return readNumber(give, concurrency, { least: 1, whole: true });
}

/** @throws FieldError */
export function readSendOptions(give: Give): SendOptions {
	return {
		maxRetries: readNumber(give, maxRetries, { least: 0, whole: true }),
		timeout: readNumber(give, timeout, { least: 1 }),
	};
}

/** What an item gives for an option that is a number; its default where it gives nothing. @throws FieldError */
export function readNumber(
	give: Give,
	{ name, default: fallback }: INodeProperties,
	bounds: { least: number; whole?: boolean },
): number {
	return give('options', name).optionalNumber(bounds) ?? Number(fallback);
}
