import { randomUUID } from 'node:crypto';

import type { Cluster, Job, NewJob, Verb } from '../messages';
import { engineWorkflowFor } from './engineWorkflow';
import { JobLife, type JobState } from './jobLife';
import { Refusal } from './refusal';

/** How many of the newest jobs are kept at hand for the page. */
const newestKept = 100;

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
	private readonly all = new Map<string, StoredJob>();

	/** The newest jobs, the oldest of them first; up to twice as many as are kept. */
	private recent: StoredJob[] = [];

	private readonly perCluster = new Map<string, number>();

	/** Those that had not come to an end when they were last looked at. */
	private readonly unfinished = new Set<StoredJob>();

	private readonly finished: Record<JobState, number> = {
		running: 0,
		suspended: 0,
		stopped: 0,
		terminated: 0,
		succeeded: 0,
	};

	/** Every job ever made, by its uid, the oldest first. */
	get byUid(): ReadonlyMap<string, StoredJob> {
		return this.all;
	}

	/**
	 * Makes a job.
	 * @param duration milliseconds that it runs until it has succeeded
	 */
	create(namespace: string, asked: NewJob, cluster: Cluster, duration: number): StoredJob {
		const job = new StoredJob(namespace, asked, cluster, duration);
		this.all.set(job.uid, job);
		this.unfinished.add(job);
		this.perCluster.set(asked.workCluster, this.countOn(asked.workCluster) + 1);
		this.recent.push(job);
		if (this.recent.length >= 2 * newestKept) this.recent = this.recent.slice(-newestKept);
		return job;
	}

	/**
	 * The job with this uid. Its name is not taken: a service need not take it either.
	 * @throws Refusal 404, when the namespace has no such job
	 */
	find(namespace: string, uid: string): StoredJob {
		const job = this.all.get(uid);
		if (job?.namespace === namespace) return job;
		const named = this.all.get(uid.replace(/^job-/, ''));
		const hint = named?.namespace === namespace ? `: that is the name of job '${named.uid}'` : '';
		throw new Refusal(
			404,
			'no_such_job',
			`There is no job '${uid}' in namespace '${namespace}'${hint}`,
		);
	}

	/** The newest jobs, the newest first. */
	newest(): StoredJob[] {
		return this.recent.slice(-newestKept).reverse();
	}

	/** How many jobs were made for a cluster. */
	countOn(clusterUid: string): number {
		return this.perCluster.get(clusterUid) ?? 0;
	}

	/** How many jobs are in each state. Looks only at those that had not finished the last time. */
	countByState(): Record<JobState, number> {
		const counts = { ...this.finished };
		for (const job of this.unfinished) {
			const { state } = job;
			counts[state] += 1;
			if (state === 'running' || state === 'suspended') continue;
			this.finished[state] += 1;
			this.unfinished.delete(job);
		}
		return counts;
	}
}
