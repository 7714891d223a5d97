import type { Fault, When } from '../../../sandbox';

/*
 * What the rows of the matrix are written in.
 */

/**
 * What becomes of an item whose request meets a fault. In the texts, `<verb>` and `<id>` are those of the state
 * change, `<url>` is the Base URL, an ellipsis stands for a number, and what else is in `<>` differs from operation
 * to operation: test/support/operations.ts.
 */
export interface Cell {
	/** The first request alone meets the fault: how the item ends, and after how many requests. */
	once: string;
	/** All of its requests meet it. One request may be sent again, apart from waits and new tokens. */
	always: string;
	/** The title of the error, if any. */
	title?: string;
	/** The line of its description that says what to do. */
	advice?: string;
	/** Of a create only. */
	jobMayExist?: boolean;
}

/** A fault, or several that come to the same. */
export interface Row {
	/** By their names: the fault, and the HTTP status that the error tells. */
	faults: Record<string, [fault: Fault, httpStatus: number | null]>;
	create: Cell;
	/** Any change of a job's state. */
	change: Cell;
	/** Anything that changes nothing. */
	read: Cell;
}

/** A fault that can strike before the service does what it is asked, and after. */
export function beforeAndAfter(
	name: string,
	httpStatus: number | null,
	fault: (when: When) => Fault,
): Row['faults'] {
	return {
		[`${name}, before acting`]: [fault('beforeActing'), httpStatus],
		[`${name}, after acting`]: [fault('afterActing'), httpStatus],
	};
}

/** What to do about a job that may exist. It takes the place of "try again". */
export const lookForTheJob =
	"Before you run this item again, look on the service for a job named 'Report' in namespace 'default'. The request had been sent, and this node did not send it again, so that no job is made twice.";
