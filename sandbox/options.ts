import type { LimitOptions } from './limits/limits';
import type { Expiry } from './service/expiry';

/** What a sandbox can be told when it starts. Everything has a default. */
export interface SandboxOptions {
	/** The port to listen on, on loopback; 0 (the default) takes any that is free. */
	port?: number;
	/** A path before every call's path, such as `/orchestrator`; none by default. */
	pathPrefix?: string;
	/** The one user that may log in. */
	userName?: string;
	/** That user's password. */
	password?: string;
	/** Seconds until a token expires. */
	tokenLifetime?: number;
	/** How a token is told as expired; by 401 unless another way is given. */
	expiry?: Expiry;
	/** Whether the user has one session only: a login ends the token of the one before. */
	oneSession?: boolean;
	/** How many work clusters there are. Any number is cheap: they are made when they are asked for. */
	clusters?: number;
	/**
	 * Milliseconds that a job runs until it has succeeded: ten minutes, time for a second node. Time spent
	 * suspended does not count.
	 */
	jobDuration?: number;
	/** Milliseconds that every answer is held back, after the call has taken effect. */
	latency?: number;
	/** How much it bears; anything, by default. */
	limits?: LimitOptions;
	/** The most clusters that a page holds, and the size of a page when no limit is asked for. */
	maxPageSize?: number;
	/** Whether a larger page is refused with a 400, instead of being shorter than asked for. */
	refuseLargerPages?: boolean;
	/** Whether a page's token is its number, so that all pages must be asked for with the same limit. */
	pageNumbers?: boolean;
	/** Whether `items` and `metadata` are left out where they are empty, as grpc-gateway does. */
	emptyListsOmitted?: boolean;
	/** A key and its certificate (PEM), to speak https. */
	tls?: { key: string; cert: string };
	/** Whether `calls` is kept. A benchmark turns it off. */
	recordCalls?: boolean;
}

/** The options with their defaults filled in. */
export type SandboxSettings = Required<Omit<SandboxOptions, 'tls'>> & Pick<SandboxOptions, 'tls'>;

/** The user that the sandbox knows unless it is told another. */
export const demoUser = { userName: 'demo', password: 'demo-password' } as const;

/** Fills in what was not given. */
export function withDefaults(options: SandboxOptions): SandboxSettings {
	return {
		port: 0,
		pathPrefix: '',
		...demoUser,
		tokenLifetime: 3600,
		expiry: '401',
		oneSession: false,
		clusters: 6,
		jobDuration: 600_000,
		latency: 0,
		limits: {},
		maxPageSize: 1000,
		refuseLargerPages: false,
		pageNumbers: false,
		emptyListsOmitted: false,
		recordCalls: true,
		...options,
	};
}
