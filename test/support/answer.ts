import type { Fault, Plan, PlannedCall, When } from '../../sandbox';

/*
 * Faults that make the sandbox send a planned answer instead of its own.
 */

type Answer = [status: number, body?: unknown, headers?: Record<string, string>];

const answerWhen = (when: When, ...[status, body, headers]: Answer): Fault => ({
	kind: 'answer',
	when,
	status,
	body,
	headers,
});

/** Returns a fault: the service sends this answer and doesn't carry out the operation. */
export const answer = (...given: Answer) => answerWhen('beforeActing', ...given);

/** Returns a fault: the service carries out the operation, and then sends this answer. */
export const actAndAnswer = (...given: Answer) => answerWhen('afterActing', ...given);

/** Returns a plan for the calls of an operation: only the nth one, counted from 1, meets these faults. */
export const onlyAt =
	(n: number, faults: ReturnType<Plan>) =>
	({ nOfOperation }: PlannedCall): ReturnType<Plan> =>
		nOfOperation === n ? faults : undefined;
