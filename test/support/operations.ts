import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';

import { resources } from '../../nodes/JobOrchestration/resources';
import type { Operation } from '../../nodes/JobOrchestration/resources/operation';
import type { OperationId, Verb } from '../../sandbox';
import { verbs as sandboxVerbs } from '../sandbox/states';
import { change, create } from './fixture';

/*
 * The operations of the node, read from its code. The tests therefore cover an added operation, or fail until it is
 * described here.
 */

/** An operation of the node, with what a test needs in order to run it. */
export interface KnownOperation {
	/** The name of the operation that workflows store. */
	value: string;
	resource: string;
	/**
	 * Whether the operation creates a job, changes one, or only reads. This decides what the node may do after a
	 * failure.
	 */
	kind: 'create' | 'change' | 'read';
	/** Whether the call is idempotent, and is therefore sent again after an unclear response. */
	idempotent: boolean;
	/** The call of the service that the operation makes. */
	calls: OperationId;
	/** @param more parameters that replace those of a valid call, such as the ID of a job */
	parameters: (more?: INodeParameters) => INodeParameters;
}

/** The call of each operation that reads, and the values of its required fields (`given`). */
const reads: Record<string, Pick<KnownOperation, 'calls'> & { given: INodeParameters }> = {
	'cluster.getAll': { calls: 'listClusters', given: {} },
};

export const operations = resources.flatMap(({ value: resource, operations: ofResource }) =>
	ofResource.map((operation) => knownOf(resource, operation)),
);

/** The verbs in the paths of state changes. Each is also the name of its operation. */
export const verbs = operations
	.filter(({ kind }) => kind === 'change')
	.map(({ value }) => verbOf(value));

export function verbOf(value: string): Verb {
	const verb = sandboxVerbs.find((candidate) => candidate === value);
	if (verb === undefined)
		throw new Error(
			`"${value}" has no row in the transitions of sandbox/service/jobs.ts yet: see CONTRIBUTING.md`,
		);
	return verb;
}

/** The first operation that makes each call: one operation for each call of the service. */
export const oneOfEachCall = operations.filter(
	({ calls }, index) => operations.findIndex((other) => other.calls === calls) === index,
);

function knownOf(resource: string, operation: Operation): KnownOperation {
	const { value, fields, done } = operation;
	const known = { value, resource, idempotent: false };
	if (done === 'created') {
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
		const values = { jobId: 'a-job', namespace: 'default', options: {} };
		// Only an operation that can wait for a callback reads anything from the context.
		const { call } = operation.prepare(values, {} as IExecuteFunctions);
		const { idempotent } = call;
		return { ...known, kind: 'change', idempotent, calls: 'changeJobState', parameters };
	}
	throw new Error(
		`${resource}.${value} is of a kind that the tests don't know: add it to test/support/operations.ts`,
	);
}
