import type { INodeParameters } from 'n8n-workflow';

import { resources } from '../../nodes/JobOrchestration/resources';
import { ifStoppedOption } from '../../nodes/JobOrchestration/resources/job/ifStopped';
import type { Operation } from '../../nodes/JobOrchestration/resources/operation';
import type { CalledOperation, Verb } from '../../sandbox';
import { verbs as sandboxVerbs } from '../sandbox/states';
import { change, create, getAll } from './fixture';

/*
 * The operations of the node as its code has them: what is added there is tested here, or stops the tests.
 */

/** What an operation does on the service, and what may be done after a failure therefore. */
export type Kind = 'create' | 'change' | 'list';

/** An operation of the node, with all that a run of it needs. */
export interface KnownOperation {
	/** As workflows store it. */
	value: string;
	resource: string;
	kind: Kind;
	/** The call of the service that it makes. */
	calls: CalledOperation;
	/** @param more in place of what makes a good call, such as the ID of a job */
	parameters: (more?: INodeParameters) => INodeParameters;
}

export const operations: KnownOperation[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({
		value: operation.value,
		resource,
		...wayOf(resource, operation),
	})),
);

/** The operations that change the state of a job. */
export const stateChanges = operations.filter(({ kind }) => kind === 'change');

/** What stands in the path for each of the state changes: their own names. */
export const verbs = stateChanges.map(({ value }) => verbOf(value));

/** The verbs that the option If Stopped Half-Way offers. */
export const jobEnds = (ifStoppedOption.options ?? [])
	.flatMap((option) => ('value' in option ? String(option.value) : []))
	.filter((choice) => choice !== 'keep')
	.map(verbOf);

export function verbOf(value: string): Verb {
	const verb = sandboxVerbs.find((candidate) => candidate === value);
	if (verb === undefined) throw new Error(`The tests don't know what "${value}" does to a job`);
	return verb;
}

/** The first operation of each kind. */
export const oneOfEachKind = operations.filter(
	({ kind }, index) => operations.findIndex((other) => other.kind === kind) === index,
);

function wayOf(
	resource: string,
	{ value, fields, makesJobs }: Operation,
): Pick<KnownOperation, 'kind' | 'calls' | 'parameters'> {
	const has = (name: string) => fields.some((field) => field.name === name);
	if (makesJobs === true) return { kind: 'create', calls: 'createJob', parameters: create };
	if (resource === 'job' && has('jobId')) {
		return {
			kind: 'change',
			calls: 'changeJobState',
			parameters: (more) => change(value, { jobId: 'a-job', ...more }),
		};
	}
	if (resource === 'cluster' && has('returnAll')) {
		return { kind: 'list', calls: 'listClusters', parameters: getAll };
	}
	throw new Error(`${resource}.${value} is of a kind that the tests don't know: add it here`);
}
