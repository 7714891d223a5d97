import { FaultPlan } from './faults/faultPlan';
import { buildApp } from './http/app';
import { CallRecord, type Call } from './http/calls';
import { Connections } from './http/connections';
import { Limits } from './limits/limits';
import { defaults, type SandboxOptions, type SandboxSettings } from './options';
import type { StoredJob } from './service/jobs';
import { Service } from './service/service';

/** The minimum number of calls to keep, with `recordCalls` and if only the page shows them. */
const callsKept = 100_000;
const callsShown = 50;

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts a sandbox on loopback.
 * @throws Error with a `code` such as EADDRINUSE, if the sandbox can't listen on the port
 */
export async function startSandbox(options: SandboxOptions = {}) {
	const settings: SandboxSettings = { ...defaults, ...options };
	const { pathPrefix, userName, password } = settings;
	const service = new Service(settings);
	const faults = new FaultPlan();
	const limits = new Limits(settings.limits);
	const record = new CallRecord(settings.recordCalls ? callsKept : callsShown);
	const app = buildApp({ service, faults, limits, record, settings });
	const connections = new Connections(app.server);
	app.server.maxConnections = settings.limits.connections ?? Infinity;
	const origin = await app.listen({ host: '127.0.0.1', port: settings.port });
	const jobs: ReadonlyMap<string, StoredJob> = service.jobs;
	let comeBack = async (): Promise<void> => {};

	return {
		/** The base URL: scheme, host, port and path prefix, without a slash at the end. */
		url: origin + pathPrefix,
		userName,
		password,
		/** The data of the service: all jobs that were created, by their UIDs, the oldest first; and the clusters. */
		store: { jobs, clusters: service.clusters },
		/**
		 * The calls since the last `clearCalls`, the oldest first: at least the latest 100,000 of them, or none without
		 * `recordCalls`.
		 */
		get calls(): readonly Call[] {
			return settings.recordCalls ? record.calls : [];
		},
		clearCalls: () => record.clear(),
		connections,
		tokens: service.tokens,
		/** The faults that tests plan. No request can change them. */
		faults,
		/** The limits of the service. `limits.met` says how they have affected the calls. */
		limits,
		/** Makes the sandbox unreachable, and closes all connections. `comeBack` listens on the same port again. */
		goAway: async () => {
			comeBack = await connections.shut();
		},
		comeBack: async () => await comeBack(),
		/** Stops the sandbox for good, and closes all connections. */
		close: async () => {
			comeBack = async () => {};
			service.callbacks.close();
			await app.close();
		},
	};
}
