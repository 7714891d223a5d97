import type { Fault, When } from '../../sandbox';

/*
 * Answers that are planned instead of the service's own.
 */

export const answerWhen = (
	when: When,
	status: number,
	body?: unknown,
	headers?: Record<string, string>,
): Fault => ({
	kind: 'answer',
	when,
	status,
	...(body === undefined ? {} : { body }),
	...(headers === undefined ? {} : { headers }),
});

/** What the service answers instead of doing what it is asked. */
export const answer = (status: number, body?: unknown, headers?: Record<string, string>): Fault =>
	answerWhen('beforeActing', status, body, headers);

/** What the service answers after it has done what it is asked. */
export const actAndAnswer = (
	status: number,
	body?: unknown,
	headers?: Record<string, string>,
): Fault => answerWhen('afterActing', status, body, headers);
