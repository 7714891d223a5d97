import { id } from '../../fields/form';
import { changeJobState } from '../../service/calls/jobs';
import { type Operation, operation } from '../operation';
import { optionsField } from '../options';

/** The field Namespace, which all operations on jobs have. */
export const namespaceField = id('Namespace', 'namespace', {
	required: true,
	default: 'default',
	placeholder: 'e.g. default',
	description:
		'ID of the namespace that the job belongs to: a part of the service that has its own jobs. Leave "default" unless you were given another one.',
});

interface Verb extends Required<Pick<Operation, 'value' | 'done' | 'description'>> {
	/**
	 * Whether sending the verb twice has the same effect as sending it once. If not, it is never sent again after an
	 * unclear response.
	 */
	idempotent: boolean;
}

/** Describes a verb that ends a job. The interface document doesn't say how the two of them differ. */
const ends = (verb: string, other: string) =>
	`End a job by sending "${verb}". How this differs from "${other}" is up to the service.`;

const VERBS: Verb[] = [
	{ value: 'resume', idempotent: true, done: 'resumed', description: 'Continue a suspended job' },
	{ value: 'stop', idempotent: true, done: 'stopped', description: ends('stop', 'terminate') },
	{
		value: 'suspend',
		idempotent: true,
		done: 'suspended',
		description: 'Pause a job until it is resumed',
	},
	{
		value: 'terminate',
		idempotent: true,
		done: 'terminated',
		description: ends('terminate', 'stop'),
	},
];

/**
 * Returns an operation that changes the state of a job. The verb is the operation's name and a part of the request's
 * path.
 */
function changeState({ value: verb, idempotent, ...described }: Verb): Operation {
	const name = verb.charAt(0).toUpperCase() + verb.slice(1);
	return operation({
		...{ ...described, value: verb, name, action: `${name} job` },
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
			const call = changeJobState({ namespace, jobId, verb, idempotent });
			return {
				call,
				send: async (client, options) => {
					const response = await client.send(call, options);
					const metadata = { namespace, uid: jobId };
					return { output: [{ metadata, operation: verb, success: true, response }] };
				},
			};
		},
	});
}

/** The operations that change the state of a job, in the order of the form. */
export const verbs = VERBS.map(changeState);
