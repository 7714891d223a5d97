import type { Failure } from '../request/failure';
import { rootCauseOf } from '../request/failure';
import { isRefusedLogin, wasTurnedAway } from '../request/retryPolicy';
import type { Outcome } from './pace';

/** What a failed request says of the service's pace. */
export function outcomeOf(failure: Failure): Outcome {
	const isOfLogin = failure.kind === 'login';
	// It failed for all at once, and they are told of it without a request.
	if (isRefusedLogin(failure)) return { kind: 'unsent' };
	const cause = rootCauseOf(failure);
	switch (cause.kind) {
		case 'status':
			if (wasTurnedAway(cause)) return { kind: 'tooMany', retryAfter: cause.retryAfter };
			if ([502, 503, 504].includes(cause.status)) return { kind: 'unavailable' };
			return { kind: isOfLogin ? 'loginFailed' : 'answered' };
		case 'unexpectedResponse':
		case 'redirect':
			return { kind: 'answered' };
		case 'unreachable':
			return { kind: 'unreachable' };
		case 'broken':
			return { kind: isOfLogin ? 'loginFailed' : 'broken' };
		case 'timeout':
			return { kind: 'timedOut' };
		case 'notSent':
		case 'blocked':
			return { kind: 'unsent' };
		default:
			return { kind: 'unknown' };
	}
}
