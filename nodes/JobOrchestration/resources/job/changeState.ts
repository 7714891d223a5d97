import type { Operation } from '../operation';
import { optionsField } from '../options';
import { namespaceField } from './namespace';

/** An operation that changes the state of a job. Its verb names it, and stands in the request's path. */
export function changeState(verb: string, description: string): Operation {
	const name = verb.charAt(0).toUpperCase() + verb.slice(1);
	return {
		value: verb,
		name,
		action: `${name} job`,
		description,
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
				const response = await service.changeJobState({ namespace, jobId, verb });
				const metadata = { namespace, uid: jobId };
				return { output: [{ metadata, operation: verb, success: true, response }] };
			};
		},
	};
}
