import type { Operation } from '../operation';
import { optionsField } from '../options';
import { namespaceField } from './namespace';

export const suspend = changeState('suspend', {
	description: 'Pause a job so that it can be resumed later',
	idempotent: true,
});

export const resume = changeState('resume', {
	description: 'Continue a suspended job',
	idempotent: true,
});

export const stop = changeState('stop', {
	description:
		'End a job by sending "stop". How this differs from "terminate" is up to the service.',
	idempotent: true,
});

export const terminate = changeState('terminate', {
	description:
		'End a job by sending "terminate". How this differs from "stop" is up to the service.',
	idempotent: true,
});

/** An operation that changes the state of a job. Its verb names it, and stands in the request's path. */
function changeState(
	verb: string,
	{ description, idempotent }: Required<Pick<Operation, 'description' | 'idempotent'>>,
): Operation {
	const name = verb.charAt(0).toUpperCase() + verb.slice(1);
	return {
		value: verb,
		name,
		action: `${name} job`,
		description,
		idempotent,
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
			const namespace = getField('namespace').pathId();
			const jobId = getField('jobId').pathId();
			return async (service) => {
				const change = { namespace, jobId, verb, idempotent };
				const response = await service.changeJobState(change);
				const metadata = { namespace, uid: jobId };
				return { output: [{ metadata, operation: verb, success: true, response }] };
			};
		},
	};
}
