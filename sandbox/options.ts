import type { LimitOptions } from './limits/limits';
import type { Expiry } from './service/expiry';

/** The one user that may log in, unless another is given. */
export const demoUser = { userName: 'demo', password: 'demo-password' };

const defaults = {
	/** The port to listen on, on loopback; 0 takes any that is free. */
	port: 0,
	/** A path before every call's path, such as `/orchestrator`. */
	pathPrefix: '',
	...demoUser,
	/** Seconds until a token expires. */
	tokenLifetime: 3600,
	/** How a token is told as expired. */
	expiry: '401' as Expiry,
	/** Whether the user has one session only: a login ends the token of the one before. */
	oneSession: false,
	/** How many work clusters there are. Any number is cheap: they are made when they are asked for. */
	clusters: 6,
	/**
	 * Milliseconds that a job runs until it has succeeded: ten minutes, time for a second node. Time spent
	 * suspended does not count.
	 */
	jobDuration: 600_000,
	/** Milliseconds that every answer is held back, after the call has taken effect. */
	latency: 0,
	/** How much it bears; anything, by default. */
	limits: {} as LimitOptions,
	/** The most clusters that a page holds, and the size of a page when no limit is asked for. */
	maxPageSize: 1000,
	/** Whether a larger page is refused with a 400, instead of being shorter than asked for. */
	refuseLargerPages: false,
	/** Whether a page's token is its number, so that all pages must be asked for with the same limit. */
	pageNumbers: false,
	/** Whether `items` and `metadata` are left out where they are empty, as grpc-gateway does. */
	emptyListsOmitted: false,
	/** A key and its certificate (PEM), to speak https. */
	tls: undefined as { key: string; cert: string } | undefined,
	/** Whether `calls` is kept. A benchmark turns it off. */
	recordCalls: true,
};

export type SandboxSettings = typeof defaults;

/** What a sandbox can be told when it starts. */
export type SandboxOptions = Partial<SandboxSettings>;

/** Fills in what was not given. */
export function withDefaults(options: SandboxOptions): SandboxSettings {
	return { ...defaults, ...options };
}
