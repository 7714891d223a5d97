import type { INodeParameters } from 'n8n-workflow';

import { resources } from '../../nodes/JobOrchestration/resources';
import { ifStoppedOption } from '../../nodes/JobOrchestration/resources/options';
import type { Operation } from '../../nodes/JobOrchestration/resources/operation';
import type { OperationId, Verb } from '../../sandbox';
import { verbs as sandboxVerbs } from '../sandbox/states';
import { change, create } from './fixture';

/*
 * The operations of the node as its code has them: what is added there is tested here, or stops the tests.
 */

/** An operation of the node, with all that a run of it needs. */
export interface KnownOperation {
	/** As workflows store it. */
	value: string;
	resource: string;
	/** What it does on the service, and what may be done after a failure therefore. */
	kind: 'create' | 'change' | 'read';
	/** Whether it is sent again after an unclear answer. */
	idempotent: boolean;
	/** The call of the service that it makes. */
	calls: OperationId;
	/** @param more instead of what makes a good call, such as the ID of a job */
	parameters: (more?: INodeParameters) => INodeParameters;
}

/** What is to be known of each operation that reads; `given` are the fields that it needs. */
const reads: Record<string, Pick<KnownOperation, 'calls'> & { given: INodeParameters }> = {
	'cluster.getAll': { calls: 'listClusters', given: {} },
};

export const operations = resources.flatMap(({ value: resource, operations: ofResource }) =>
	ofResource.map((operation) => knownOf(resource, operation)),
);

/** What stands in the path for each change of a job's state: the operation's own name. */
export const verbs = operations
	.filter(({ kind }) => kind === 'change')
	.map(({ value }) => verbOf(value));

/** The verbs that the option ifStopped offers. */
export const jobEnds = (ifStoppedOption.options ?? [])
	.flatMap((option) => ('value' in option ? String(option.value) : []))
	.filter((choice) => choice !== 'keep')
	.map(verbOf);

export function verbOf(value: string): Verb {
	const verb = sandboxVerbs.find((candidate) => candidate === value);
	if (verb === undefined)
		throw new Error(
			`"${value}" is not among the verbs of test/sandbox/states.ts yet: see CONTRIBUTING.md`,
		);
	return verb;
}

/** The first operation that makes each call. */
export const oneOfEachCall = operations.filter(
	({ calls }, index) => operations.findIndex((other) => other.calls === calls) === index,
);

function knownOf(resource: string, operation: Operation): KnownOperation {
	const { value, fields, createsJobs, idempotent = false } = operation;
	const known = { value, resource, idempotent };
	if (createsJobs === true) {
		return { ...known, kind: 'create', calls: 'createJob', parameters: create };
	}
	const read = reads[`${resource}.${value}`];
	if (read !== undefined) {
		const { given, calls } = read;
		const parameters = (more = {}) => ({ resource, operation: value, ...given, ...more });
		return { ...known, kind: 'read', idempotent: true, calls, parameters };
	}
	if (resource === 'job' && fields.some(({ name }) => name === 'jobId')) {
		const parameters = (more = {}) => change(value, { jobId: 'a-job', ...more });
		return { ...known, kind: 'change', calls: 'changeJobState', parameters };
	}
	throw new Error(`${resource}.${value} is of a kind that the tests don't know: add it here`);
}
