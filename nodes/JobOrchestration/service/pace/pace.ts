import type { Change, InFlightRequest, Outcome } from './breaker';
import { CircuitBreaker } from './breaker';
import { ConcurrencyLimit, RateLimit } from './limits';

/** When the next request of an account may start: arithmetic without timers, which is told the time in milliseconds. */
export class Pace {
	readonly concurrency = new ConcurrencyLimit();
	readonly breaker = new CircuitBreaker();
	rate = new RateLimit();
	inFlight = 0;
	endedAt = -Infinity;

	/** Milliseconds until the next request may start, if more than 0; Infinity during a probe. */
	delay(now: number, isCreate: boolean): number {
		return Math.max(this.breaker.delay(now, isCreate), this.rate.nextAt - now);
	}

	/** @param idle how long n8n has been idle in all: while it is busy, answers wait for n8n, not for the service */
	start(now: number, idle: number, isCreate: boolean): InFlightRequest {
		this.inFlight += 1;
		this.rate.started(now);
		return this.breaker.start(now, idle, isCreate);
	}

	end(request: InFlightRequest, outcome: Outcome, now: number, idle: number): Change {
		const { kind, retryAfter = 0 } = outcome;
		const isFull = this.inFlight + 1 > this.concurrency.limit;
		this.inFlight -= 1;
		this.endedAt = now;
		const isLost = ['timedOut', 'broken', 'unavailable'].includes(kind) && request.probe === 0;
		if (isLost) this.concurrency.lost(request.startedAt, now);
		if (kind === 'answered' && !request.isQuestion) {
			this.concurrency.answered(idle - request.idleBefore, isFull);
			this.rate.accepted(now);
		}
		const wasLong = this.breaker.isLong(now);
		const change = this.breaker.end(request, outcome, now);
		const isCostly = kind === 'unavailable' || retryAfter > 0;
		if (change === 'opened' && (isCostly || kind === 'throttled')) {
			this.rate.throttled(now, isCostly);
		}
		if (change === 'closed') {
			// The long waits concerned one request each, so they say nothing about the rate.
			if (wasLong) this.rate = new RateLimit();
			this.rate.resumedAt = now;
		}
		return change;
	}
}
