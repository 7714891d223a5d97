import type { AddressInfo } from 'node:net';

import { FaultPlan } from './faults/faultPlan';
import { buildApp } from './http/app';
import { CallRecord, type Call } from './http/calls';
import { Connections } from './http/connections';
import { Limits, type Met } from './limits/limits';
import { withDefaults, type SandboxOptions } from './options';
import type { Clusters } from './service/clusters';
import type { StoredJob } from './service/jobs';
import { Service } from './service/service';

/** How many calls are kept at the least, and how many where only the page shows them. */
const callsKept = 100_000;
const callsShown = 50;

export interface Sandbox {
	/** Where it is: scheme, host, port and path prefix, without a slash at the end. */
	readonly url: string;
	readonly userName: string;
	readonly password: string;
	/** What the service holds. */
	readonly store: {
		/** Every job that was made, by its uid, in the order they were made. */
		readonly jobs: ReadonlyMap<string, StoredJob>;
		readonly clusters: Clusters;
	};
	/** The calls since the last `clearCalls`, the oldest first; at least the latest 100,000 of them. */
	readonly calls: readonly Call[];
	clearCalls(): void;
	readonly connections: Pick<Connections, 'open' | 'peak' | 'reset'>;
	readonly tokens: {
		/** How many tokens were given out. */
		readonly issued: number;
		/** Whether a token was given out and has not expired. */
		isGood(token: string): boolean;
		/** Ends every token given out so far. */
		expireAll(): void;
	};
	/** What goes wrong, in tests. Nothing that comes over HTTP can change it. */
	readonly faults: Pick<FaultPlan, 'plan' | 'clear'>;
	/** What the calls have met of its limits; see `SandboxOptions.limits`. */
	readonly limits: { readonly met: Met };
	/** Can't be reached any more, and cuts whatever is open, until it is back on the same port. */
	goAway(): Promise<void>;
	comeBack(): Promise<void>;
	/** Stops it for good, and cuts whatever is open. */
	close(): Promise<void>;
}

/**
 * Starts a sandbox.
 * @throws Error with a `code` such as EADDRINUSE, when it can't listen there
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const settings = withDefaults(options);
	const service = new Service(settings);
	const faults = new FaultPlan();
	const limits = new Limits(settings.limits);
	const record = new CallRecord(settings.recordCalls ? callsKept : callsShown);
	const app = buildApp({ service, faults, limits, record, settings });
	const connections = new Connections(app.server);
	app.server.maxConnections = settings.limits.connections ?? Infinity;
	await app.listen({ host: '127.0.0.1', port: settings.port });
	const { port } = app.server.address() as AddressInfo;
	let comeBack = async (): Promise<void> => {};

	return {
		url: `${settings.tls ? 'https' : 'http'}://127.0.0.1:${port}${settings.pathPrefix}`,
		userName: settings.userName,
		password: settings.password,
		store: { jobs: service.jobs.byUid, clusters: service.clusters },
		get calls() {
			return settings.recordCalls ? record.calls : [];
		},
		clearCalls: () => record.clear(),
		connections,
		tokens: service.tokens,
		faults,
		limits,
		goAway: async () => {
			comeBack = await connections.shut();
		},
		comeBack: async () => await comeBack(),
		close: async () => {
			comeBack = async () => {};
			service.callbacks.close();
			const closed = app.close();
			connections.destroyAll();
			await closed;
		},
	};
}
