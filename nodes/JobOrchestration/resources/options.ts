import type { INodeProperties } from 'n8n-workflow';

import type { CallOptions } from '../service/calls/serviceClient';
import type { GetField } from '../parameters/itemParameters';

/** The verb by which jobs are ended if an execution is interrupted. */
export type JobEnd = 'stop' | 'terminate';

const concurrency: INodeProperties = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 100 },
	default: 10,
	description:
		'Max number of requests in flight at once, up to 100. Without this option, the node adapts to the pace of the service. If it differs between items, the lowest number applies to all of them.',
};

const maxRetries: INodeProperties = {
	displayName: 'Max Request Retries',
	name: 'maxRetries',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 3,
	description:
		"Max number of times to resend a failed request; 0 for none. A create request is only resent if the service can't have created the job. Rate-limited requests don't count: they are resent even with 0.",
};

const timeout: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60_000,
	hint: 'In milliseconds: 60000 is one minute',
	description: 'How long to wait for the response to one request',
};

/** The option that makes a batch all or nothing. */
export const ifStoppedOption: INodeProperties = {
	displayName: 'If Interrupted',
	name: 'ifStopped',
	type: 'options',
	default: 'keep',
	description:
		"What to do with the jobs that this node has created if the error of an item or a cancel ends it. If 'On Error' is set to continue, only a cancel does.",
	options: [
		{
			name: 'Keep the Jobs',
			value: 'keep',
			description: 'They keep running, and the error lists them',
		},
		{
			name: 'Stop the Jobs',
			value: 'stop',
			description: 'Send "stop" to each job; the error says whether that worked',
		},
		{
			name: 'Terminate the Jobs',
			value: 'terminate',
			description: 'Send "terminate" to each job; the error says whether that worked',
		},
	],
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

/** What to do with the created jobs if the execution is interrupted; undefined to keep them. @throws FieldError */
export function readIfStopped(getField: GetField): JobEnd | undefined {
	const given = getField('options', ifStoppedOption.name);
	if (given.isMissing) return undefined;
	const choice = given.oneOf(['keep', 'stop', 'terminate']);
	return choice === 'keep' ? undefined : choice;
}

/** The limiter of the service bounds it (MAX_LIMIT), also if an expression gives more. @throws FieldError */
export function readConcurrency(getField: GetField): number | undefined {
	return getField('options', concurrency.name).optionalNumber({ min: 1, integer: true });
}

/** @throws FieldError */
export function readCallOptions(getField: GetField): CallOptions {
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
