import { contractOperation } from '../contract/contract';
import type { Call } from '../http/calls';
import type { RouteContext } from '../http/routes';
import { demoUser } from '../options';
import type { Clusters } from '../service/clusters';
import type { JobState } from '../service/jobLife';

/** How many clusters the page shows. */
const clustersShown = 60;

/**
 * What the page shows at a moment. It holds no token, no body, and no password but the demo user's, which
 * everybody knows. Times are milliseconds since the epoch.
 */
export interface Snapshot {
	now: number;
	/** What to enter in a credential; the Base URL is the page's own address and this path. */
	logIn: {
		pathPrefix: string;
		userName: string;
		/** Null where the sandbox was started with another. */
		password: string | null;
	};
	jobs: {
		counts: Record<JobState, number>;
		/** The newest first. */
		newest: Array<{
			uid: string;
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
			/** The operation in words: `Stop job`. */
			what: string;
			method: string;
			path: string;
			status: number | null;
			/** Why it was refused, null where it wasn't. */
			reason: string | null;
			at: number;
		}>;
	};
}

/** What there is to be seen at this moment. */
export function snapshot({ service, record, settings }: RouteContext): Snapshot {
	const { jobs, clusters } = service;
	return {
		now: Date.now(),
		logIn: {
			pathPrefix: settings.pathPrefix,
			userName: settings.userName,
			password: settings.password === demoUser.password ? settings.password : null,
		},
		jobs: {
			counts: jobs.countByState(),
			newest: jobs.newest().map((job) => ({
				uid: job.uid,
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
			latest: record.recent().map((call) => ({
				what: inWords(call),
				method: call.method,
				path: call.path,
				status: call.status ?? null,
				reason: call.reason ?? null,
				at: call.at,
			})),
		},
	};
}

/** A call by the title that the contract has for it; one that has several verbs, by its own. */
function inWords({ operation, path }: Call): string {
	if (operation === 'unknown') return 'No such call';
	if (operation !== 'changeJobState') return contractOperation(operation).summary;
	const verb = path.slice(path.lastIndexOf('/') + 1);
	return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} job`;
}

function firstOf(clusters: Clusters): ReturnType<Clusters['page']>['items'] {
	return clusters.page(clustersShown, undefined).items;
}
