import type { GenericValue } from 'n8n-workflow';

import { allClusters, listClusters } from './clusters';
import type { PageRequest } from './clusters';
import type { Connection } from './connection';
import { changeJobState, createJob } from './jobs';
import type { SendOptions } from './send';
import type { ClusterPage, Job, JsonRecord, NewJob } from './shapes';

export type { SendOptions };

/** The service's calls, over one connection and with one item's options. Each throws CallError. */
export class Service {
	constructor(
		private readonly connection: Connection,
		private readonly options: SendOptions,
	) {}

	async createJob(job: NewJob): Promise<Job> {
		return await createJob(this.connection, job, this.options);
	}

	async changeJobState(change: {
		namespace: string;
		jobId: string;
		verb: string;
	}): Promise<GenericValue> {
		return await changeJobState(this.connection, change, this.options);
	}

	async listClusters(page: PageRequest): Promise<ClusterPage> {
		return await listClusters(this.connection, page, this.options);
	}

	async allClusters(list: {
		pageSize: number;
		most: number;
		continueFrom?: string | undefined;
	}): Promise<JsonRecord[]> {
		return await allClusters(this.connection, list, this.options);
	}
}
