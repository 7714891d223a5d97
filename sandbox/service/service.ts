import type { CreateJobRequest, LoginRequest, OperationId } from '../messages';
import type { SandboxSettings } from '../options';
import { Callbacks } from './callbacks';
import { wishOf } from './callWhenDone';
import { Clusters } from './clusters';
import { StoredJob, type Verb } from './jobs';
import { Refusal } from './refusal';
import { Tokens } from './tokens';

/** Processes the calls of the contract, independently of HTTP. */
export class Service {
	readonly tokens: Tokens;
	/** All jobs that were created, by their UIDs, the oldest first. */
	readonly jobs = new Map<string, StoredJob>();
	readonly clusters: Clusters;
	readonly callbacks = new Callbacks();

	constructor(private readonly settings: SandboxSettings) {
		this.tokens = new Tokens(settings.tokenLifetime, settings.oneSession);
		this.clusters = new Clusters(settings.clusters, settings.maxPageSize, settings.pageNumbers);
	}

	/**
	 * Processes a call whose request complies with the contract.
	 * @returns the body of the response; undefined for an empty body
	 * @throws Refusal if the service refuses the call
	 */
	do(
		operation: OperationId,
		{ params, query, body }: Record<'params' | 'query' | 'body', unknown>,
	) {
		switch (operation) {
			case 'login':
				return this.login(body as LoginRequest);
			case 'createJob':
				return this.createJob(params as { namespace: string }, body as CreateJobRequest);
			case 'changeJobState':
				return this.changeJobState(params as { namespace: string; jobid: string; status: Verb });
			case 'listClusters':
				return this.listClusters(query as ListOptions);
		}
	}

	private login({ userName, password }: LoginRequest) {
		const expected = this.settings;
		if (userName !== expected.userName || String(password) !== expected.password) {
			throw new Refusal(401, 'wrong_password', 'The username or the password is wrong');
		}
		return this.tokens.issue();
	}

	private createJob(params: { namespace: string }, { namespace, job }: CreateJobRequest) {
		mustBeNamespace(params.namespace, 'body/namespace', namespace);
		mustBeNamespace(params.namespace, 'body/job/namespace', job.namespace);
		const cluster = this.clusters.byUid(job.workCluster);
		if (cluster === undefined) {
			const message = `body/job/workCluster: there is no cluster '${job.workCluster}'`;
			throw new Refusal(400, 'unknown_cluster', message);
		}
		const wish = wishOf(job);
		const duration = wish?.duration ?? this.settings.jobDuration;
		const created = new StoredJob(params.namespace, job, cluster, duration);
		this.jobs.set(created.uid, created);
		if (wish) this.callbacks.add(created, wish);
		return created.toMessage();
	}

	private changeJobState(params: { namespace: string; jobid: string; status: Verb }): undefined {
		this.jobIn(params.namespace, params.jobid).change(params.status);
	}

	/** @throws Refusal 404, if the namespace has no job with this UID */
	private jobIn(namespace: string, uid: string): StoredJob {
		const job = this.jobs.get(uid);
		if (job?.namespace === namespace) return job;
		const message = `There is no job '${uid}' in namespace '${namespace}'`;
		throw new Refusal(404, 'no_such_job', message);
	}

	private listClusters(query: ListOptions) {
		const { 'ListOption.limit': limit, 'ListOption.continue': token } = query;
		const { maxPageSize, refuseLargerPages, emptyListsOmitted } = this.settings;
		if (refuseLargerPages && limit !== undefined && limit > maxPageSize) {
			const message = `querystring/ListOption.limit must be <= ${maxPageSize}`;
			throw new Refusal(400, 'bad_request', message);
		}
		const list = this.clusters.page(limit, token);
		if (!emptyListsOmitted) return list;
		const { items, metadata } = list;
		return { ...(items.length > 0 && { items }), ...(metadata.continue && { metadata }) };
	}
}

interface ListOptions {
	'ListOption.limit'?: number;
	'ListOption.continue'?: string;
}

/** @throws Refusal 400, if a namespace in the body differs from the namespace in the path */
function mustBeNamespace(expected: string, field: string, given?: string | number): void {
	if (given === undefined || String(given) === expected) return;
	const message = `${field} is '${given}', but the path says namespace '${expected}'`;
	throw new Refusal(400, 'wrong_namespace', message);
}
