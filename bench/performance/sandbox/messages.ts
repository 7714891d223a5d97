import type { SandboxOptions } from '../../../sandbox';
import type { PlanName } from './plans';

/** Where a sandbox is, and who may log in there. */
export interface Target {
	url: string;
	userName: string;
	password: string;
}

/** What the benchmark asks the process of the sandboxes. */
export type Request =
	| {
			kind: 'open';
			options: SandboxOptions;
			away?: Away | undefined;
			plan?: PlanName | undefined;
	  }
	| { kind: 'close' };

/** When the measured sandbox can't be reached: once it has made so many jobs, and for how many milliseconds. */
export interface Away {
	after: number;
	for: number;
}

/** Two sandboxes: one to measure with, and one to get warm on, so that nothing measured is touched by it. */
export interface Opened {
	measured: Target;
	warmUp: Target;
}

/** What the measured sandbox saw. */
export interface Seen {
	jobs: number;
	logins: number;
	requests: number;
	/** The most requests that were under way at once. */
	requestsAtOnce: number;
	/** The most connections that were open at once, those that were about to close among them. */
	connectionsAtOnce: number;
}
