import type { Failure } from '../request/failure';
import { rootCauseOf } from '../request/failure';
import { wasTurnedAway } from '../request/retryPolicy';
import type { Outcome } from './pace';

/** What a failed request says of the service's pace. */
export function outcomeOf(failure: Failure): Outcome {
	const cause = rootCauseOf(failure);
	switch (cause.kind) {
		case 'status':
			if (wasTurnedAway(cause)) return { kind: 'tooMany', retryAfter: cause.retryAfter };
			return { kind: [502, 503, 504].includes(cause.status) ? 'unavailable' : 'answered' };
		case 'unexpectedResponse':
		case 'redirect':
			return { kind: 'answered' };
		case 'unreachable':
			return { kind: 'unreachable' };
		case 'broken':
			// A log-in is one for all who wait for it, and is tried again at no risk.
			return { kind: failure.kind === 'login' ? 'unknown' : 'broken' };
		case 'timeout':
			return { kind: 'timedOut' };
		default:
			return { kind: 'unknown' };
	}
}
