import { transitions, type StoredJob, type Verb } from '../../sandbox';

export const verbs = Object.keys(transitions) as Verb[];

/** Changes the state of a running job, so that the verb can then change it. */
export function makeReadyFor(verb: Verb, job: Pick<StoredJob, 'change'>): void {
	const [from] = transitions[verb].from;
	if (from === 'running') return;
	const first = verbs.find((other) => transitions[other].to === from);
	if (first === undefined) throw new Error(`No verb makes a job ${from}`);
	job.change(first);
}
