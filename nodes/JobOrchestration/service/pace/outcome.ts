import type { Failure } from '../request/failure';
import type { Outcome } from './pace';

/** What a request's end says of the service's pace; without a failure, it did what was asked. */
export function outcomeOf(failure: Failure | undefined): Outcome {
	if (failure === undefined) return { kind: 'done' };
	const cause = failure.kind === 'login' ? failure.cause : failure;
	switch (cause.kind) {
		case 'status': {
			const { status, retryAfter } = cause;
			if (status === 429 || (status === 503 && retryAfter !== undefined)) {
				return { kind: 'tooMany', retryAfter };
			}
			return { kind: [502, 503, 504].includes(status) ? 'unavailable' : 'answered' };
		}
		case 'unexpectedResponse':
		case 'redirect':
			return { kind: 'answered' };
		case 'unreachable':
			return { kind: 'unreachable' };
		case 'timeout':
			return { kind: 'timedOut' };
		default:
			return { kind: 'unknown' };
	}
}
