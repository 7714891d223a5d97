import { randomUUID } from 'node:crypto';

import type { Cluster, Job, NewJob, Verb } from '../messages';
import { engineWorkflowFor } from './engineWorkflow';
import { JobLife } from './jobLife';
import { Refusal } from './refusal';

/** A job that the sandbox holds. */
export class StoredJob extends JobLife {
	readonly uid = randomUUID();
	readonly name = `job-${this.uid}`;

	/**
	 * @param namespace the namespace it is in
	 * @param asked what the request asked for
	 * @param cluster the cluster that executes it
	 * @param duration milliseconds that it runs
	 */
	constructor(
		readonly namespace: string,
		readonly asked: NewJob,
		readonly cluster: Cluster,
		duration: number,
	) {
		super(duration);
	}

	get displayName(): string {
		return this.asked.displayName;
	}

	/** @throws Refusal 409, when that can't be done in the job's present state */
	override change(verb: Verb): void {
		super.change(verb, this.uid);
	}

	/** The job as an answer carries it. */
	toMessage(): Job {
		const { asked, finishedAt } = this;
		const priority = asked.priority ?? 0;
		const workspace = asked.workspace ?? 'default';
		return {
			metadata: { namespace: this.namespace, uid: this.uid },
			name: this.name,
			displayName: asked.displayName,
			group: asked.group,
			type: asked.type ?? 'normal',
			workflow: { uid: asked.workflow.uid },
			priority,
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
			engineWorkflow: engineWorkflowFor(this.name, { ...asked, priority, workspace }, this.cluster),
			workspace,
			workCluster: asked.workCluster,
		};
	}
}

/** All jobs, in memory. */
export class Jobs {
	/** Every job ever made, by its uid, the oldest first. */
	readonly byUid = new Map<string, StoredJob>();

	/**
	 * The job with this uid. Its name is not taken: a service need not take it either.
	 * @throws Refusal 404, when the namespace has no such job
	 */
	find(namespace: string, uid: string): StoredJob {
		const job = this.byUid.get(uid);
		if (job?.namespace === namespace) return job;
		const named = this.byUid.get(uid.replace(/^job-/, ''));
		const hint = named?.namespace === namespace ? `: that is the name of job '${named.uid}'` : '';
		const message = `There is no job '${uid}' in namespace '${namespace}'${hint}`;
		throw new Refusal(404, 'no_such_job', message);
	}
}
