import type { Failure } from '../request/failure';
import { rootCauseOf } from '../request/failure';
import { isRefusedLogin, isThrottled } from '../request/retryPolicy';
import type { Outcome } from './pace';

/** What a failed request says about the service's pace. */
export function outcomeOf(failure: Failure): Outcome {
	const isLogin = failure.kind === 'login';
	// All requests are told of a refused login without being sent.
	if (isRefusedLogin(failure)) return { kind: 'unknown' };
	const cause = rootCauseOf(failure);
	switch (cause.kind) {
		case 'status':
			if (isThrottled(cause)) return { kind: 'throttled', retryAfter: cause.retryAfter };
			if ([502, 503, 504].includes(cause.status)) return { kind: 'unavailable' };
			return { kind: isLogin ? 'loginFailed' : 'answered' };
		case 'unexpectedResponse':
		case 'redirect':
			return { kind: 'answered' };
		case 'unreachable':
			return { kind: 'unreachable' };
		case 'broken':
			return { kind: isLogin ? 'loginFailed' : 'broken' };
		case 'timeout':
			return { kind: 'timedOut' };
		default:
			return { kind: 'unknown' };
	}
}
