import type { Operation } from '../operation';
import { optionsField } from '../options';
import { namespaceField } from './namespace';

/** An operation that changes the state of a job. Its `value` is also the verb in the path: they differ in that alone. */
export function changeState({
	value,
	...words
}: Pick<Operation, 'value' | 'name' | 'action' | 'description'>): Operation {
	return {
		value,
		...words,
		fields: [
			namespaceField,
			{
				displayName: 'Job ID',
				name: 'jobId',
				type: 'string',
				required: true,
				default: '',
				placeholder: 'e.g. 4f0c2a5e-8d3b-4a17-9c61-2b7e5d90f1aa',
				hint: 'metadata.uid of the job, not its name. After Create: {{ $json.metadata.uid }}',
				description:
					"ID of the job: metadata.uid in the output of the operation Create, not the job's display name",
			},
			optionsField(),
		],
		prepare(give) {
			const namespace = give('namespace').id();
			const jobId = give('jobId').id();
			return async (service) => {
				const response = await service.changeJobState({ namespace, jobId, verb: value });
				return [{ namespace, jobId, operation: value, success: true, response }];
			};
		},
	};
}
