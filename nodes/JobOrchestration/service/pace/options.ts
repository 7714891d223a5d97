import type { OpenReason } from './pace';

/** What n8n's log says about a long wait, and about its end after `resumedAfter` milliseconds. */
export type WaitNotice = { waitsBecause: OpenReason } | { resumedAfter: number };

/** What a run of the node sets. */
export interface LimiterOptions {
	/** Requests in flight at most. The pace decides if it is undefined. */
	concurrency?: number | undefined;
	notify?: (notice: WaitNotice) => void;
	/** Milliseconds to wait for a service that accepts no requests. */
	patience?: number | undefined;
	/** The same object for all runs of one execution. */
	execution?: object | undefined;
}
