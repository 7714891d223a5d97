import type { JobState, StoredJob, Verb } from '../../sandbox';

/** From which state of a job to which each verb leads. A verb that is missing does not compile. */
export const states: Record<Verb, { from: JobState; to: JobState }> = {
	suspend: { from: 'running', to: 'suspended' },
	resume: { from: 'suspended', to: 'running' },
	stop: { from: 'running', to: 'stopped' },
	terminate: { from: 'running', to: 'terminated' },
};

export const verbs = Object.keys(states) as Verb[];

/** Brings a job that runs into the state in which a verb changes something. */
export function makeReadyFor(verb: Verb, job: Pick<StoredJob, 'change'>): void {
	const { from } = states[verb];
	if (from === 'running') return;
	const first = verbs.find((other) => states[other].to === from);
	if (first === undefined) throw new Error(`No verb makes a job ${from}`);
	job.change(first);
}
