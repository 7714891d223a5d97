import type { Failure } from '../request/failure';
import { rootCauseOf } from '../request/failure';
import { isRefusedLogin, isThrottled } from '../request/retryPolicy';
import type { Outcome } from './pace';

/** What a failed request says of the service's pace. */
export function outcomeOf(failure: Failure): Outcome {
	const isOfLogin = failure.kind === 'login';
	// It failed for all at once, and they are told of it without a request.
	if (isRefusedLogin(failure)) return { kind: 'nothingSent' };
	const cause = rootCauseOf(failure);
	switch (cause.kind) {
		case 'status':
			if (isThrottled(cause)) return { kind: 'throttled', retryAfter: cause.retryAfter };
			if ([502, 503, 504].includes(cause.status)) return { kind: 'unavailable' };
			return { kind: isOfLogin ? 'loginFailed' : 'otherAnswer' };
		case 'unexpectedResponse':
		case 'redirect':
			return { kind: 'otherAnswer' };
		case 'unreachable':
			return { kind: 'unreachable' };
		case 'broken':
			return { kind: isOfLogin ? 'loginFailed' : 'broken' };
		case 'timeout':
			return { kind: 'timedOut' };
		case 'n8nFailed':
		case 'n8nTimeout':
		case 'blocked':
			return { kind: 'nothingSent' };
		default:
			return { kind: 'unknown' };
	}
}
