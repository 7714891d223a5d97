import { id } from '../../fields/form';
import { changeJobState } from '../../service/calls/jobs';
import { namespaceField, operation, optionsField } from '../operation';

/** Describes a verb that ends a job. The interface document doesn't say how the two of them differ. */
const ends = (verb: string, other: string) =>
	`End a job by sending "${verb}". How this differs from "${other}" is up to the service.`;

/**
 * The verbs that change the state of a job, in the order of the form. A verb is the value of its operation and a part
 * of the request's path. `idempotent` says whether sending the verb twice has the same effect as sending it once. If
 * not, it is never sent again after an unclear response.
 */
const VERBS = {
	resume: { idempotent: true, done: 'resumed', description: 'Continue a suspended job' },
	stop: { idempotent: true, done: 'stopped', description: ends('stop', 'terminate') },
	suspend: { idempotent: true, done: 'suspended', description: 'Pause a job until it is resumed' },
	terminate: { idempotent: true, done: 'terminated', description: ends('terminate', 'stop') },
};

/** The operations that change the state of a job. */
export const verbs = Object.entries(VERBS).map(([verb, { idempotent, ...described }]) => {
	const name = verb.charAt(0).toUpperCase() + verb.slice(1);
	return operation({
		value: verb,
		name,
		action: `${name} job`,
		...described,
		fields: [
			id('Job ID', 'jobId', {
				required: true,
				placeholder: 'e.g. 4f0c2a5e-8d3b-4a17-9c61-2b7e5d90f1aa',
				hint: "Not the job's name. After Create: {{ $json.metadata.uid }}",
				description:
					"ID of the job: 'metadata.uid' in the output of Create, not the job's name or display name",
			}),
			namespaceField,
		],
		options: optionsField(),
		prepare({ namespace, jobId }) {
			const call = changeJobState({ namespace, jobId }, { verb, idempotent });
			return {
				call,
				send: async (client, options) => {
					const end = await client.send(call, options);
					if (end === undefined || 'problem' in end) return end;
					const { body: response } = end;
					const metadata = { namespace, uid: jobId };
					return { output: [{ metadata, operation: verb, success: true, response }] };
				},
			};
		},
	});
});
