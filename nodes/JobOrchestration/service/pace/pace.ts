import type { Condition } from '../errors/rules';

/** The unit of rates. Over less time, a burst that the service allows once would be taken for its rate. */
export const SECOND = 1_000;
/** Without forgetting what is older than this, an account would stay slow after its service has recovered. */
export const MINUTE = 60_000;
/** Requests in flight at first. With more, a service that takes only a few at once would meet a crowd. */
export const INITIAL_LIMIT = 10;
/** Requests in flight at most. With more, one n8n could take all connections of a service. */
export const MAX_LIMIT = 100;
/** Milliseconds that n8n is idle per answer. With less, more requests would only block its event loop. */
const MIN_IDLE = 10;
/** Factor of a limit that proved too high. With less, each mistake would cost half of the throughput. */
const DECREASE = 0.7;
/** Growth of the rate per second in slow start. With less, it would take too long to find a high limit. */
const SLOW_START = 3;
/** Growth of a limit per round or second. With more, requests would be rejected again at once. */
const INCREASE = 0.1;
/** The wait for the first probe, doubled for each further one. With less, a busy service would be flooded. */
export const FIRST_WAIT = 50;
/** The same if no connection or login succeeds. With less, four attempts would not outlast a restart. */
const FIRST_WAIT_AWAY = 300;
/** The longest wait for a probe. If all waited for a longer Retry-After, one namespace's quota would stop them. */
export const LONG_WAIT = 5_000;

/** What opens the circuit breaker: 429 or 503 with Retry-After; 502, 503 or 504; a failed connection or login. */
type OpenReason = Exclude<Condition, 'answered' | 'timedOut' | 'unknown'>;

/** What the end of a request says about the pace. A Retry-After is in milliseconds. */
export interface Outcome {
	kind: Condition;
	retryAfter?: number | undefined;
}

export interface InFlightRequest {
	readonly startedAt: number;
	/** How long n8n had been idle in all when it was sent. */
	idleBefore: number;
	/** Which probe in a row it is, from 1; 0 if it isn't one. */
	readonly probe: number;
}

/**
 * Limits the requests in flight (AIMD). Each round of as many answers raises the limit by half (slow start), until answers
 * take twice as long as usual or requests are lost; if it doubled, more would be lost. From then on it grows slowly.
 */
class ConcurrencyLimit {
	limit = INITIAL_LIMIT;
	private growth = 1.5;
	/** The mean time of an answer in the latest round with few requests in flight. */
	private usual = 0;
	private round = { time: 0, count: 0, isFull: false };
	private decreasedAt = -Infinity;

	answered(time: number, isFull: boolean): void {
		const { round } = this;
		round.time += time;
		round.count += 1;
		round.isFull ||= isFull;
		if (round.count < this.limit) return;
		const mean = round.time / round.count;
		if (this.limit <= INITIAL_LIMIT) this.usual = mean;
		const isUseful = mean > MIN_IDLE || this.limit < INITIAL_LIMIT;
		if (mean > 2 * this.usual) {
			this.growth = Math.min(this.growth, 1 + INCREASE);
			this.change(DECREASE);
		} else this.change(round.isFull && isUseful ? this.growth : 1);
	}

	/** A request got no answer. That may leave a job uncertain, so the limit grows even more slowly. */
	lost({ startedAt }: InFlightRequest, now: number): void {
		if (startedAt < this.decreasedAt) return;
		this.decreasedAt = now;
		this.growth = 1 + INCREASE ** 2;
		this.change(DECREASE);
	}

	private change(factor: number): void {
		this.limit = Math.min(Math.max(this.limit * factor, 1), MAX_LIMIT);
		this.round = { time: 0, count: 0, isFull: false };
	}
}

/**
 * Limits the requests per second (AIMD): a token bucket without burst. The first rejection sets the limit to what was
 * accepted in the last second. It is tripled each second (slow start) until that proves too high.
 */
class RateLimit {
	value = Infinity;
	private growth = 1;
	private grownAt = 0;
	/** When requests last went on after a wait, which said nothing about the rate. */
	resumedAt = -Infinity;
	nextAt = 0;
	private acceptedAt: number[] = [];

	started(now: number): void {
		const spacing = SECOND / this.value;
		// Timers are late by a millisecond or two, which must not lower the rate.
		this.nextAt = Math.max(this.nextAt, now - Math.max(spacing / 5, 2)) + spacing;
	}

	accepted(now: number): void {
		if (this.acceptedAt.push(now) > 2 * SECOND) this.acceptedAt.splice(0, SECOND);
		this.value *= this.growth ** ((now - Math.max(this.grownAt, this.resumedAt)) / SECOND);
		this.grownAt = now;
		// Timers can't keep to less than a millisecond.
		if (this.value > SECOND) this.value = Infinity;
	}

	startSlowly(): void {
		this.growth = SLOW_START;
	}

	/** @param isCostly whether all wait for a Retry-After, or a job is uncertain. Else it may be chance */
	rejected(now: number, isCostly: boolean): void {
		const accepted = this.acceptedAt.filter((at) => at >= now - SECOND).length;
		if (this.value === Infinity) {
			this.value = Math.max(accepted, INITIAL_LIMIT);
			this.grownAt = now;
			this.startSlowly();
		} else if (isCostly || this.value > 2 * accepted) {
			const perSecond = accepted / Math.min(1, (now - this.resumedAt) / SECOND);
			this.value = Math.max(1, DECREASE * Math.min(this.value, perSecond));
			this.growth = 1 + INCREASE;
		} else this.value *= 1 - INCREASE / 2;
	}
}

/**
 * Stops all requests after a rejection or failure, for as long as Retry-After says, else a moment. Then one request
 * probes the service (half-open). If it is answered, all go on. A long Retry-After may concern one request or all: if a
 * probe is answered before it is over, each long one concerns one request for the next minute.
 */
class CircuitBreaker {
	/** Why and since when requests wait, when the next probe may start, and how many have failed. */
	opening?: { reason: OpenReason; since: number; probeAt: number; probes: number };
	probe?: InFlightRequest;
	private closedAt = -Infinity;
	/** When the last long Retry-After is over. */
	private longUntil = -Infinity;
	private singleUntil = -Infinity;
	private longInARow = 0;

	isLong(now: number): boolean {
		return this.opening !== undefined && now < this.longUntil;
	}

	end(request: InFlightRequest, outcome: Outcome, now: number): 'opened' | 'closed' | 'nothing' {
		const { kind: reason, retryAfter = 0 } = outcome;
		const isProbe = request === this.probe;
		if (isProbe) delete this.probe;
		if (reason === 'answered') {
			this.longInARow = 0;
			const isRejection = ['throttled', 'unavailable'].includes(this.opening?.reason ?? '');
			// Before a limit was reached, others that were in flight may have been accepted.
			if (this.opening === undefined || (isRejection && !isProbe)) return 'nothing';
			if (this.isLong(now)) this.singleUntil = now + MINUTE;
			delete this.opening;
			delete this.probe;
			this.longUntil = -Infinity;
			this.closedAt = now;
			return 'closed';
		}
		if (reason === 'timedOut' || reason === 'unknown') return 'nothing';
		const isLong = retryAfter > LONG_WAIT;
		this.longInARow += Number(isLong);
		if (isLong && now < this.singleUntil && this.longInARow < INITIAL_LIMIT) {
			this.singleUntil = now + MINUTE;
			return 'nothing';
		}
		const opens = this.opening === undefined;
		// That requests were rejected that started before it closed is known.
		if (opens && request.startedAt < this.closedAt && retryAfter === 0) return 'nothing';
		const opening = (this.opening ??= { reason, since: now, probeAt: now, probes: 0 });
		if (isProbe) opening.probes += 1;
		if (isProbe || retryAfter > 0) opening.reason = reason;
		if (isLong) this.longUntil = now + Math.min(retryAfter, MINUTE);
		const isAway = reason === 'unreachable' || reason === 'loginFailed';
		const grown = (isAway ? FIRST_WAIT_AWAY : FIRST_WAIT) * 2 ** opening.probes;
		// With jitter, processes that were rejected together come back apart.
		const wait = Math.min(isLong ? LONG_WAIT : grown, LONG_WAIT) * (0.75 + Math.random() / 4);
		const least = opens || isProbe || isLong ? wait : 0;
		opening.probeAt = Math.max(opening.probeAt, now + Math.max(isLong ? 0 : retryAfter, least));
		return opens ? 'opened' : 'nothing';
	}
}

/** When the next request of an account may start: arithmetic without timers, which is told the time in milliseconds. */
export class Pace {
	readonly concurrency = new ConcurrencyLimit();
	readonly breaker = new CircuitBreaker();
	rate = new RateLimit();
	inFlight = 0;
	answeredAt = -Infinity;
	endedAt = -Infinity;

	/** Milliseconds until the next request may start, if more than 0; Infinity during a probe. */
	delay(now: number): number {
		const { opening, probe } = this.breaker;
		const wait = probe === undefined ? (opening?.probeAt ?? now) - now : Infinity;
		return Math.max(wait, this.rate.nextAt - now);
	}

	/** @param idle how long n8n has been idle in all: while it is busy, answers wait for n8n, not for the service */
	start(now: number, idle: number): InFlightRequest {
		const { opening, probe } = this.breaker;
		const isProbe = opening !== undefined && probe === undefined;
		const request = { startedAt: now, idleBefore: idle, probe: isProbe ? opening.probes + 1 : 0 };
		if (isProbe) this.breaker.probe = request;
		this.inFlight += 1;
		this.rate.started(now);
		return request;
	}

	end(request: InFlightRequest, outcome: Outcome, now: number, idle: number): void {
		const { kind, retryAfter = 0 } = outcome;
		const isFull = this.inFlight + 1 > this.concurrency.limit;
		this.inFlight -= 1;
		this.endedAt = now;
		const isLost = (kind === 'timedOut' || kind === 'broken') && request.probe === 0;
		if (isLost) this.concurrency.lost(request, now);
		if (kind === 'answered') {
			this.answeredAt = now;
			this.concurrency.answered(idle - request.idleBefore, isFull);
			this.rate.accepted(now);
		}
		const wasLong = this.breaker.isLong(now);
		const change = this.breaker.end(request, outcome, now);
		const isCostly = kind === 'unavailable' || retryAfter > 0;
		const isRejection = change === 'opened' && (isCostly || kind === 'throttled');
		if (isRejection) this.rate.rejected(now, isCostly);
		if (change !== 'closed') return;
		// The rejections concerned one request each, so they say nothing about the rate.
		if (wasLong) this.rate = new RateLimit();
		this.rate.resumedAt = now;
	}
}
