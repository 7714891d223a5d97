import type { INodeProperties } from 'n8n-workflow';

import type { GetField, JobEnd } from '../operation';

/** The option that makes a batch all or nothing. */
export const ifStoppedOption: INodeProperties = {
	displayName: 'If Stopped Half-Way',
	name: 'ifStopped',
	type: 'options',
	default: 'keep',
	description:
		"What to do with the jobs that this execution has created if an error ends it or it is cancelled. If 'On Error' is set to continue, they are always kept.",
	options: [
		{
			name: 'Keep the Jobs',
			value: 'keep',
			description: 'They keep running, and the error lists them',
		},
		{
			name: 'Stop the Jobs',
			value: 'stop',
			description: 'Each job is sent "stop", and the error says whether that worked',
		},
		{
			name: 'Terminate the Jobs',
			value: 'terminate',
			description: 'Each job is sent "terminate", and the error says whether that worked',
		},
	],
};

/** @throws FieldError */
export function readIfStopped(getField: GetField): JobEnd | undefined {
	const given = getField('options', 'ifStopped');
	if (given.isMissing) return undefined;
	const choice = given.oneOf(['keep', 'stop', 'terminate']);
	return choice === 'keep' ? undefined : choice;
}
