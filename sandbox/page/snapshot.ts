import { contractOperation } from '../contract/contract';
import type { Call } from '../http/calls';
import type { RouteContext } from '../http/routes';
import { demoUser } from '../options';
import { jobStates } from '../service/jobs';

/** The maximum numbers of jobs (the newest), clusters (the first) and calls (the latest) that the page shows. */
const jobsShown = 100;
const clustersShown = 60;
const callsShown = 50;

export type Snapshot = ReturnType<typeof snapshot>;

/**
 * Returns the current content of the page. It contains no tokens, no request bodies, and no password except that of the
 * demo user, which is public. Times are milliseconds since the epoch.
 */
export function snapshot({ service, record, settings }: RouteContext) {
	const { clusters } = service;
	const jobs = [...service.jobs.values()];
	const counts: Record<string, number> = Object.fromEntries(jobStates.map((state) => [state, 0]));
	const perCluster = new Map<string, number>();
	for (const { state, asked } of jobs) {
		counts[state] = (counts[state] ?? 0) + 1;
		perCluster.set(asked.workCluster, (perCluster.get(asked.workCluster) ?? 0) + 1);
	}
	return {
		logIn: {
			pathPrefix: settings.pathPrefix,
			userName: settings.userName,
			password: settings.password === demoUser.password ? settings.password : null,
		},
		jobs: {
			counts,
			total: jobs.length,
			newest: jobs
				.slice(-jobsShown)
				.reverse()
				.map(({ cluster, uid, displayName, namespace, state, startedAt, finishedAt }) => {
					const times = { startedAt, finishedAt };
					return { uid, displayName, namespace, cluster: cluster.name, state, ...times };
				}),
		},
		clusters: {
			total: clusters.count,
			first: clusters.page(clustersShown, undefined).items.map((cluster) => {
				const { name, type, metadata, status } = cluster;
				const { uid } = metadata;
				return { uid, name, type, phase: status.phase, jobs: perCluster.get(uid) ?? 0 };
			}),
		},
		calls: {
			total: record.total,
			latest: record.calls
				.slice(-callsShown)
				.reverse()
				.map((call) => {
					const { method, path, status = null, reason = null, at } = call;
					return { what: inWords(call), method, path, status, reason, at };
				}),
		},
	};
}

/** Returns the title of a call: the contract's title, or the call's verb as in `Stop job` for a state change. */
function inWords({ operation, path }: Call): string {
	if (operation === 'unknown') return 'No such call';
	if (operation !== 'changeJobState') return contractOperation(operation).summary;
	const verb = path.slice(path.lastIndexOf('/') + 1);
	return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} job`;
}
