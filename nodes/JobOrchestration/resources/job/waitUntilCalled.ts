import type { INodeProperties } from 'n8n-workflow';

import type { GetField } from '../../parameters/itemParameters';

/** How an execution waits for the call of its job. */
export interface CallWait {
	/** The ID of the job's input that receives the address to call. */
	input: string;
	limitMs: number;
}

/** The option that has Create wait until the job's template calls n8n. Not offered to agents: their tools can't wait. */
export const waitUntilCalledOption: INodeProperties = {
	displayName: 'Wait Until Called',
	name: 'waitUntilCalled',
	type: 'fixedCollection',
	default: { values: { input: 'callbackUrl', limit: 60 } },
	description:
		'Continue when the job calls n8n: its workflow template must POST its result as JSON to the address that it receives as an input. For one item per execution. The output is the job with the call\'s body as "callback", or null after the limit.',
	displayOptions: { hide: { '@tool': [true] } },
	options: [
		{
			displayName: 'Values',
			name: 'values',
			values: [
				{
					displayName: 'Input for the Address',
					name: 'input',
					type: 'string',
					default: 'callbackUrl',
					description: "ID of the job's input that receives the address to call",
				},
				{
					displayName: 'Limit in Minutes',
					name: 'limit',
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 60,
					description: 'How long to wait for the call',
				},
			],
		},
	],
};

/** @throws FieldError */
export function readWaitUntilCalled(getField: GetField): CallWait | undefined {
	const option = getField('options', waitUntilCalledOption.name);
	if (option.isMissing) return undefined;
	const values = option.member('values', 'Wait Until Called');
	if (values.isMissing) return undefined;
	const limit = values.member('limit', 'Limit in Minutes').optionalNumber({ min: 0 }) ?? 60;
	return {
		input: values.member('input', 'Input for the Address').requiredText().trim(),
		limitMs: limit * 60_000,
	};
}
