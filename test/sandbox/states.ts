import type { JobState, StoredJob, Verb } from '../../sandbox';

/** The state of a job before and after each verb. The code doesn't compile if a verb is missing. */
export const states: Record<Verb, { from: JobState; to: JobState }> = {
	suspend: { from: 'running', to: 'suspended' },
	resume: { from: 'suspended', to: 'running' },
	stop: { from: 'running', to: 'stopped' },
	terminate: { from: 'running', to: 'terminated' },
};

export const verbs = Object.keys(states) as Verb[];

/** Changes the state of a running job, so that the verb can then change it. */
export function makeReadyFor(verb: Verb, job: Pick<StoredJob, 'change'>): void {
	const { from } = states[verb];
	if (from === 'running') return;
	const first = verbs.find((other) => states[other].to === from);
	if (first === undefined) throw new Error(`No verb makes a job ${from}`);
	job.change(first);
}
