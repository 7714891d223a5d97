import { randomUUID } from 'node:crypto';

import type { NewJob, Verb } from '../messages';
import type { Cluster } from './clusters';
import { Refusal } from './refusal';

export type JobState = 'running' | 'suspended' | 'stopped' | 'terminated' | 'succeeded';

/** The states that a call can bring a job to; it succeeds without one. */
type AskedState = Exclude<JobState, 'succeeded'>;

/** What a verb makes of a job, and from which states. A state that has no way out is final. */
const transitions: Record<Verb, { from: readonly JobState[]; to: AskedState }> = {
	suspend: { from: ['running'], to: 'suspended' },
	resume: { from: ['suspended'], to: 'running' },
	stop: { from: ['running', 'suspended'], to: 'stopped' },
	terminate: { from: ['running', 'suspended'], to: 'terminated' },
};

/**
 * A job that the sandbox holds. Its state is computed from the clock when it is read: jobs need no timers. All times
 * are milliseconds, those of day since the epoch.
 */
export class StoredJob {
	readonly uid = randomUUID();
	readonly name = `job-${this.uid}`;
	readonly startedAt = Date.now();

	/** What was last asked for, and when; a running job may have succeeded since. */
	private askedFor: AskedState = 'running';
	private askedAt = this.startedAt;

	/** How long the job ran before it was last suspended. */
	private ranBefore = 0;

	/** @param duration how long it runs until it has succeeded */
	constructor(
		readonly namespace: string,
		readonly asked: NewJob,
		readonly cluster: Cluster,
		private readonly duration: number,
	) {}

	get displayName(): string {
		return this.asked.displayName;
	}

	/** The state at this moment. */
	get state(): JobState {
		return this.askedFor === 'running' && Date.now() >= this.dueAt ? 'succeeded' : this.askedFor;
	}

	/** When a running job succeeds, unless its state is changed. */
	private get dueAt(): number {
		return this.askedAt + this.duration - this.ranBefore;
	}

	/** When the job came to its end; null before that. */
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
	change(verb: Verb): void {
		const { from, to } = transitions[verb];
		const { state } = this;
		if (state === to) return;
		if (!from.includes(state)) {
			throw new Refusal(409, 'wrong_state', `Can't ${verb} job '${this.uid}', it is ${state}`);
		}
		const now = Date.now();
		if (state === 'running') this.ranBefore += now - this.askedAt;
		this.askedFor = to;
		this.askedAt = now;
	}

	/** The job as an answer carries it. */
	toMessage() {
		const { asked, finishedAt } = this;
		return {
			metadata: { namespace: this.namespace, uid: this.uid },
			name: this.name,
			displayName: asked.displayName,
			group: asked.group,
			type: asked.type ?? 'normal',
			workflow: { uid: asked.workflow.uid },
			priority: asked.priority ?? 0,
			status: {
				startedAt: new Date(this.startedAt).toISOString(),
				finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
			},
			inputs: asked.inputs ?? [],
			outputs: asked.outputs ?? [],
			retryOption: {
				maxRetry: asked.retryOption?.maxretry ?? 0,
				retryInterval: asked.retryOption?.retryInterval ?? 0,
			},
			engineWorkflow: { name: this.name, spec: { entrypoint: 'main', templates: [] } },
			workspace: asked.workspace ?? 'default',
			workCluster: asked.workCluster,
		};
	}
}

/** A job in an answer. */
export type Job = ReturnType<StoredJob['toMessage']>;
