import { randomUUID } from 'node:crypto';

import type { NewJob } from '../messages';
import type { Cluster } from './clusters';
import { Refusal } from './refusal';

/** For each verb, the states in which it is allowed, and the state that it leads to. The other states are final. */
export const transitions = {
	suspend: { from: ['running'], to: 'suspended' },
	resume: { from: ['suspended'], to: 'running' },
	stop: { from: ['running', 'suspended'], to: 'stopped' },
	terminate: { from: ['running', 'suspended'], to: 'terminated' },
} as const satisfies Record<string, { from: readonly string[]; to: string }>;

export type Verb = keyof typeof transitions;

/** The states that a call can set. A job succeeds without a call. */
type AskedState = (typeof transitions)[Verb]['to'];
export type JobState = AskedState | 'succeeded';

/** All states, in the order in which the page counts the jobs. */
export const jobStates: readonly JobState[] = [
	...new Set<JobState>(['running', ...Object.values(transitions).map(({ to }) => to), 'succeeded']),
];

/** Returns whether no verb is allowed in a state any more. */
function isFinal(state: JobState): boolean {
	const allowed: string[] = Object.values(transitions).flatMap(({ from }) => [...from]);
	return !allowed.includes(state);
}

/**
 * A job in the sandbox. Its state is computed from the clock when it is read, so that jobs need no timers. Durations
 * are in milliseconds, and times in milliseconds since the epoch.
 */
export class StoredJob {
	readonly uid = randomUUID();
	readonly name = `job-${this.uid}`;
	readonly startedAt = Date.now();

	/** The state that a call has set last, and when. A job that was running then may have succeeded since. */
	private askedFor: AskedState = 'running';
	private askedAt = this.startedAt;

	/** How long the job has run in all before it was last suspended, stopped or terminated. */
	private ranBefore = 0;

	/** @param duration how long the job runs until it has succeeded, without the time during which it is suspended */
	constructor(
		readonly namespace: string,
		readonly asked: NewJob,
		readonly cluster: Cluster,
		private readonly duration: number,
	) {}

	get displayName(): string {
		return this.asked.displayName;
	}

	get state(): JobState {
		return this.askedFor === 'running' && Date.now() >= this.dueAt ? 'succeeded' : this.askedFor;
	}

	/** When the job, if it is running, succeeds unless a call changes its state. */
	private get dueAt(): number {
		return this.askedAt + this.duration - this.ranBefore;
	}

	/** When the job reached its final state; null until then. */
	get finishedAt(): number | null {
		const { state } = this;
		if (state === 'succeeded') return this.dueAt;
		return isFinal(state) ? this.askedAt : null;
	}

	/**
	 * Changes the state. A job that is already in the wanted state stays unchanged, so that a client without a response
	 * can send its request again.
	 * @throws Refusal 409, if the verb isn't allowed in the current state
	 */
	change(verb: Verb): void {
		const { from, to }: { from: readonly JobState[]; to: AskedState } = transitions[verb];
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

	/** Returns the job in the form of the contract's schema `Job`. */
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

/** A job in a response. */
export type Job = ReturnType<StoredJob['toMessage']>;
