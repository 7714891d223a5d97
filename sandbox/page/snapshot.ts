import type { RouteContext } from '../http/routes';
import type { Clusters } from '../service/clusters';
import type { JobState } from '../service/jobLife';

/** How many clusters the page shows. */
const clustersShown = 60;

/** What the page shows at a moment. It holds no token, no password and no body. Times are milliseconds since the epoch. */
export interface Snapshot {
	now: number;
	jobs: {
		counts: Record<JobState, number>;
		/** The newest first. */
		newest: Array<{
			name: string;
			displayName: string;
			namespace: string;
			cluster: string;
			state: JobState;
			startedAt: number;
			finishedAt: number | null;
		}>;
	};
	clusters: {
		total: number;
		first: Array<{ uid: string; name: string; type: string; phase: string; jobs: number }>;
	};
	calls: {
		total: number;
		/** The latest first. */
		latest: Array<{
			operation: string;
			method: string;
			path: string;
			status: number | null;
			at: number;
		}>;
	};
}

/** What there is to be seen at this moment. */
export function snapshot({ service, record }: RouteContext): Snapshot {
	const { jobs, clusters } = service;
	return {
		now: Date.now(),
		jobs: {
			counts: jobs.countByState(),
			newest: jobs.newest().map((job) => ({
				name: job.name,
				displayName: job.displayName,
				namespace: job.namespace,
				cluster: job.cluster.name,
				state: job.state,
				startedAt: job.startedAt,
				finishedAt: job.finishedAt,
			})),
		},
		clusters: {
			total: clusters.count,
			first: firstOf(clusters).map((cluster) => ({
				uid: cluster.metadata.uid,
				name: cluster.name,
				type: cluster.type,
				phase: cluster.status.phase,
				jobs: jobs.countOn(cluster.metadata.uid),
			})),
		},
		calls: {
			total: record.total,
			latest: record.recent().map(({ operation, method, path, status, at }) => ({
				operation,
				method,
				path,
				status: status ?? null,
				at,
			})),
		},
	};
}

function firstOf(clusters: Clusters): ReturnType<Clusters['page']>['items'] {
	return clusters.page(clustersShown, undefined).items;
}
