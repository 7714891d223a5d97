import { changeJobState } from '../../service/calls/jobs';
import type { Operation, PreparedCall } from '../operation';
import { optionsField } from '../options';
import { namespaceField, readNamespace } from './namespace';

interface Verb extends Required<Pick<Operation, 'value' | 'done' | 'description'>> {
	/** Whether sending the verb twice has the same effect as sending it once; true by default. */
	idempotent?: boolean;
}

const VERBS: Verb[] = [
	{
		value: 'resume',
		done: 'resumed',
		description: 'Continue a suspended job',
	},
	{
		value: 'stop',
		done: 'stopped',
		description:
			'End a job by sending "stop". How this differs from "terminate" is up to the service.',
	},
	{
		value: 'suspend',
		done: 'suspended',
		description: 'Pause a job so that it can be resumed later',
	},
	{
		value: 'terminate',
		done: 'terminated',
		description:
			'End a job by sending "terminate". How this differs from "stop" is up to the service.',
	},
];

/**
 * Returns an operation that changes the state of a job. The verb is the operation's name and a part of the request's
 * path.
 */
function changeState({ value: verb, done, description, idempotent = true }: Verb): Operation {
	const name = verb.charAt(0).toUpperCase() + verb.slice(1);
	return {
		value: verb,
		name,
		action: `${name} job`,
		description,
		idempotent,
		done,
		fields: [
			{
				displayName: 'Job ID',
				name: 'jobId',
				type: 'string',
				required: true,
				default: '',
				placeholder: 'e.g. 4f0c2a5e-8d3b-4a17-9c61-2b7e5d90f1aa',
				hint: "Not the job's name. After Create: {{ $json.metadata.uid }}",
				description:
					"ID of the job: 'metadata.uid' in the output of Create, not the job's name or display name",
			},
			namespaceField,
			optionsField(),
		],
		prepare(getField) {
			const namespace = readNamespace(getField);
			const jobId = getField('jobId').pathId();
			const send: PreparedCall['send'] = async (client, options) => {
				const change = { namespace, jobId, verb, idempotent };
				const response = await client.send(changeJobState(change), options);
				const metadata = { namespace, uid: jobId };
				return { output: [{ metadata, operation: verb, success: true, response }] };
			};
			return { send };
		},
	};
}

/** The operations that change the state of a job, in the order of the form. */
export const verbs = VERBS.map(changeState);
