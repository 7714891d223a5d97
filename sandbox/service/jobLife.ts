import type { Verb } from '../messages';
import { Refusal } from './refusal';

export type JobState = 'running' | 'suspended' | 'stopped' | 'terminated' | 'succeeded';

/** The states that a call can bring a job to; it succeeds by itself. */
type AskedState = Exclude<JobState, 'succeeded'>;

/** What a verb makes of a job, and from which states. A state that has no way out is final. */
const transitions: Record<Verb, { from: readonly JobState[]; to: AskedState }> = {
	suspend: { from: ['running'], to: 'suspended' },
	resume: { from: ['suspended'], to: 'running' },
	stop: { from: ['running', 'suspended'], to: 'stopped' },
	terminate: { from: ['running', 'suspended'], to: 'terminated' },
};

/** A job's state over time. It is computed from the clock when it is read: jobs need no timers. */
export class JobLife {
	/** Milliseconds since the epoch. */
	readonly startedAt = Date.now();

	/** What was last asked for; a running job may have succeeded since. */
	private askedFor: AskedState = 'running';

	private askedAt = this.startedAt;

	/** Milliseconds that the job ran before it was last suspended. */
	private ranBefore = 0;

	/** @param duration milliseconds that the job runs until it has succeeded */
	constructor(private readonly duration: number) {}

	/** The state at this moment. */
	get state(): JobState {
		return this.askedFor === 'running' && Date.now() >= this.dueAt ? 'succeeded' : this.askedFor;
	}

	/** When a running job succeeds, in milliseconds since the epoch, unless its state is changed. */
	get dueAt(): number {
		return this.askedAt + this.duration - this.ranBefore;
	}

	/** When the job came to its end, in milliseconds since the epoch; null before that. */
	get finishedAt(): number | null {
		const { state } = this;
		if (state === 'succeeded') return this.dueAt;
		return state === 'stopped' || state === 'terminated' ? this.askedAt : null;
	}

	/**
	 * Changes the state. A job that is in that state already stays as it is: a client that got no answer may ask
	 * again.
	 * @throws Refusal 409, when the job is not in a state from which that can be done
	 */
	change(verb: Verb, jobUid: string): void {
		const { from, to } = transitions[verb];
		const { state } = this;
		if (state === to) return;
		if (!from.includes(state)) {
			throw new Refusal(409, 'wrong_state', `Can't ${verb} job '${jobUid}', it is ${state}`);
		}
		const now = Date.now();
		if (state === 'running') this.ranBefore += now - this.askedAt;
		this.askedFor = to;
		this.askedAt = now;
	}
}
