import type { LimitOptions } from './limits/limits';

/** The only user that can log in, unless the options name another user. */
export const demoUser = { userName: 'demo', password: 'demo-password' };

export const defaults = {
	/** The port to listen on, on loopback. With 0, the system chooses a free port. */
	port: 0,
	/** A prefix of the path of each call, such as `/orchestrator`. */
	pathPrefix: '',
	...demoUser,
	/** Seconds until a token expires. */
	tokenLifetime: 3600,
	/** Whether the user has only one session, so that each login ends all earlier tokens. */
	oneSession: false,
	/** The number of work clusters. A large number costs nothing, because clusters are created on request. */
	clusters: 6,
	/**
	 * Milliseconds that a job runs until it has succeeded. The time during which the job is suspended doesn't count.
	 * Ten minutes are enough to add a second node that changes the state of the job.
	 */
	jobDuration: 600_000,
	/** Milliseconds by which each response is delayed, after the call was processed. */
	latency: 0,
	/** The limits of the service. By default, there are none. */
	limits: {} as LimitOptions,
	/** The maximum number of clusters on a page, and the size of a page if the request names no limit. */
	maxPageSize: 1000,
	/** Whether a request for a larger page is refused with a 400. Otherwise, its page has `maxPageSize` clusters. */
	refuseLargerPages: false,
	/** Whether the token of a page is its number. All pages of a list must then be requested with the same limit. */
	pageNumbers: false,
	/** Whether empty fields `items` and `metadata` are omitted from a list, as grpc-gateway does. */
	emptyListsOmitted: false,
	/** A private key and its certificate, both as PEM. If they are given, the sandbox uses HTTPS. */
	tls: undefined as { key: string; cert: string } | undefined,
	/** Whether `Sandbox.calls` returns the calls. Benchmarks and `npm run sandbox` don't need them. */
	recordCalls: true,
};

export type SandboxSettings = typeof defaults;

/** The options of `startSandbox`. */
export type SandboxOptions = Partial<SandboxSettings>;
