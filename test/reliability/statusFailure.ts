import { type Failure, failureOf } from '../../nodes/JobOrchestration/service/errors/failure';
import { type Consequence, consequenceOf } from '../../nodes/JobOrchestration/service/policy';

/** Returns a failure with these consequences, whose texts don't matter. */
export const failureWith = (consequence: Partial<Consequence>): Failure =>
	failureOf({ title: 'failed', advice: '', ...consequence });

/** Returns the failure of a request that was answered with this HTTP status and, if given, this Retry-After. */
export const statusFailure = (status: number, retryAfterMs?: number): Failure => ({
	...failureWith(consequenceOf({ status, retryAfterMs })),
	httpStatus: status,
});

export const unreachable = failureWith({ condition: 'unreachable', isAboutAllItems: true });
export const broken = failureWith({ condition: 'broken', mayHaveActed: true });
export const timedOut = failureWith({ condition: 'timedOut', mayHaveActed: true });
