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

/** What an operation does on the service, and what may be done after a failure therefore. */
export type Kind = 'create' | 'change' | 'read';

/** An operation of the node, with all that a run of it needs. */
export interface KnownOperation {
	/** As workflows store it. */
	value: string;
	resource: string;
	kind: Kind;
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

export const operations: KnownOperation[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({
		value: operation.value,
		resource,
		...wayOf(resource, operation),
	})),
);

/** The operations that change the state of a job. */
const stateChanges = operations.filter(({ kind }) => kind === 'change');

/** What stands in the path for each of the state changes: their own names. */
export const verbs = stateChanges.map(({ value }) => verbOf(value));

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

function wayOf(
	resource: string,
	{ value, fields, createsJobs, idempotent = false }: Operation,
): Omit<KnownOperation, 'value' | 'resource'> {
	if (createsJobs === true) {
		return { kind: 'create', idempotent, calls: 'createJob', parameters: create };
	}
	const read = reads[`${resource}.${value}`];
	if (read !== undefined) {
		const { given, ...known } = read;
		const parameters = (more = {}) => ({ resource, operation: value, ...given, ...more });
		return { kind: 'read', idempotent: true, parameters, ...known };
	}
	if (resource === 'job' && fields.some(({ name }) => name === 'jobId')) {
		return {
			kind: 'change',
			idempotent,
			calls: 'changeJobState',
			parameters: (more) => change(value, { jobId: 'a-job', ...more }),
		};
	}
	throw new Error(`${resource}.${value} is of a kind that the tests don't know: add it here`);
}
