import type { AddressInfo } from 'node:net';

import { FaultPlan } from './faults/faultPlan';
import { buildApp } from './http/app';
import { CallRecord, type Call } from './http/calls';
import { Connections } from './http/connections';
import { Limits } from './limits/limits';
import { withDefaults, type SandboxOptions } from './options';
import type { StoredJob } from './service/jobs';
import { Service } from './service/service';

/** How many calls are kept at the least, and how many where only the page shows them. */
const callsKept = 100_000;
const callsShown = 50;

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts a sandbox.
 * @throws Error with a `code` such as EADDRINUSE, when it can't listen there
 */
export async function startSandbox(options: SandboxOptions = {}) {
	const settings = withDefaults(options);
	const { tls, pathPrefix, userName, password } = settings;
	const service = new Service(settings);
	const faults = new FaultPlan();
	const limits = new Limits(settings.limits);
	const record = new CallRecord(settings.recordCalls ? callsKept : callsShown);
	const app = buildApp({ service, faults, limits, record, settings });
	const connections = new Connections(app.server);
	app.server.maxConnections = settings.limits.connections ?? Infinity;
	await app.listen({ host: '127.0.0.1', port: settings.port });
	const { port } = app.server.address() as AddressInfo;
	const jobs: ReadonlyMap<string, StoredJob> = service.jobs;
	let comeBack = async (): Promise<void> => {};

	return {
		/** Where it is: scheme, host, port and path prefix, without a slash at the end. */
		url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}${pathPrefix}`,
		userName,
		password,
		/** What the service holds: every job that was made, by its uid, in the order they were made; and the clusters. */
		store: { jobs, clusters: service.clusters },
		/** The calls since the last `clearCalls`, the oldest first; at least the latest 100,000 of them. */
		get calls(): readonly Call[] {
			return settings.recordCalls ? record.calls : [];
		},
		clearCalls: () => record.clear(),
		connections,
		tokens: service.tokens,
		/** What goes wrong, in tests. Nothing that comes over HTTP can change it. */
		faults,
		/** What the calls have met of its limits; see `SandboxOptions.limits`. */
		limits,
		/** Can't be reached any more, and cuts whatever is open, until it is back on the same port. */
		goAway: async () => {
			comeBack = await connections.shut();
		},
		comeBack: async () => await comeBack(),
		/** Stops it for good, and cuts whatever is open. */
		close: async () => {
			comeBack = async () => {};
			service.callbacks.close();
			await app.close();
		},
	};
}
