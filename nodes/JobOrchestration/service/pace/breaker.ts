import type { Condition, Consequence } from '../errors/rules';
import { backoffMs } from '../errors/rules';

/** Requests in flight at first. With more, a service that takes only a few at once would meet a crowd. */
export const INITIAL_LIMIT = 10;
/** A Retry-After counts for no longer than this, or one of an hour would hold an item for as long. */
export const MINUTE_MS = 60_000;
/** The wait for the first probe, doubled for each further one. With less, a busy service would be flooded. */
export const FIRST_WAIT_MS = 50;
/** The same if no connection or login succeeds. With less, four attempts would not outlast a restart. */
const FIRST_WAIT_AWAY_MS = 300;
/** The longest wait for a probe. If all waited for a longer Retry-After, one namespace's quota would stop them. */
export const LONG_WAIT_MS = 5_000;
/**
 * Creates in a row without a clear answer that end the trying: those in flight at first, and two more. With more, more
 * jobs would remain uncertain; with fewer, two items could stop all.
 */
const MAX_UNCLEAR = INITIAL_LIMIT + 2;

/** What opens the breaker. `unclear`: a bare 5xx, a broken connection or silence, so that a create may have worked. */
type OpenReason = 'throttled' | 'unreachable' | 'loginFailed' | 'unclear';

/** What a request in flight has got for one try. */
export interface Permit {
	readonly startedAt: number;
	/** How long n8n had been idle in all when it was sent. */
	idleBefore: number;
	readonly isCreate: boolean;
	/** Which probe in a row it is, from 1; 0 if it isn't one. */
	readonly probe: number;
	/** Whether the service is to be asked something harmless in place of the request. */
	readonly isQuestion: boolean;
}

/** What the end of a request changes. `gaveUp`: the creates that wait are to fail. */
export type Change = 'opened' | 'closed' | 'gaveUp' | 'nothing';

interface Opening {
	reason: OpenReason;
	since: number;
	/** When the next probe may start. */
	probeAt: number;
	failedProbes: number;
	/** Whether a create may have worked although it failed. */
	isOfCreate: boolean;
	/** The service has answered, but no create yet: they go one at a time until one is answered. */
	isHalfOpen: boolean;
}

/** Whether the service can't be reached: nothing was sent. */
export function cannotBeReached(
	condition: Condition | OpenReason,
): condition is 'unreachable' | 'loginFailed' {
	return condition === 'unreachable' || condition === 'loginFailed';
}

/**
 * Stops all requests after a failure, for the time of Retry-After or else a moment. Then one request probes the service.
 * If it is answered, all go on. If a create may have worked although it failed, a harmless question comes before the next.
 *
 * A long Retry-After may concern one request or all: if a probe is answered before it is over, each long one concerns one
 * request for the next minute.
 */
export class CircuitBreaker {
	opening?: Opening;
	probe?: Permit;
	private closedAt = -Infinity;
	/** When a request was last answered, a question not counted. */
	answeredAt = -Infinity;
	/** Creates without a clear answer since the last one with it. */
	private unclearCreates = 0;
	/** When the creates that waited were last given up. */
	private gaveUpAt = -Infinity;
	/** When the last long Retry-After is over. */
	private longUntil = -Infinity;
	/** Until when a long Retry-After concerns one request. */
	private longIsOwnUntil = -Infinity;
	/** Long ones in a row. */
	private longRetryAfters = 0;

	/** Milliseconds until a request may start, if more than 0; Infinity during a probe. */
	delay(now: number, isCreate: boolean): number {
		const { opening, probe } = this;
		if (opening === undefined || (opening.isHalfOpen && !isCreate)) return 0;
		if (probe !== undefined) return Infinity;
		return opening.isHalfOpen ? 0 : opening.probeAt - now;
	}

	/** Whether creates fail at once. A minute after the last one was given up, one is tried. */
	hasGivenUp(now: number): boolean {
		return now < this.gaveUpAt + MINUTE_MS;
	}

	isLong(now: number): boolean {
		return this.opening !== undefined && now < this.longUntil;
	}

	/** @param idle how long n8n has been idle in all */
	start(now: number, idle: number, isCreate: boolean): Permit {
		const { opening } = this;
		const isProbe = opening !== undefined && (isCreate || !opening.isHalfOpen);
		const permit: Permit = {
			startedAt: now,
			idleBefore: idle,
			isCreate,
			probe: isProbe ? opening.failedProbes + 1 : 0,
			isQuestion: isProbe && isCreate && opening.reason === 'unclear' && !opening.isHalfOpen,
		};
		if (isProbe) this.probe = permit;
		return permit;
	}

	/** The account has had no requests: what comes now is as patient as ever. */
	restart(now: number): void {
		if (this.opening === undefined) return;
		Object.assign(this.opening, { since: now, failedProbes: 0 });
		this.unclearCreates = 0;
	}

	end(permit: Permit, { condition, mayHaveActed, retryAfterMs }: Consequence, now: number): Change {
		const isProbe = permit === this.probe;
		if (isProbe) delete this.probe;
		if (condition === 'answered') return this.answered(permit, isProbe, now);
		const isUnclear = mayHaveActed && condition !== 'unknown';
		if (isUnclear && permit.isCreate && !permit.isQuestion) {
			// However many were in flight together, one probe follows.
			const most = isProbe ? MAX_UNCLEAR : MAX_UNCLEAR - 1;
			this.unclearCreates = Math.min(this.unclearCreates + 1, most);
		}
		const reason = this.reasonOf(permit, condition, { isProbe, now });
		if (reason === undefined) return 'nothing';
		return this.failed(permit, reason, { isProbe, now, retryAfterMs });
	}

	private answered({ isCreate, isQuestion }: Permit, isProbe: boolean, now: number): Change {
		const { opening } = this;
		this.longRetryAfters = 0;
		if (!isQuestion) this.answeredAt = now;
		if (opening?.isOfCreate === true && (isQuestion || !isCreate)) {
			if (!isProbe || opening.isHalfOpen) return 'nothing';
			opening.isHalfOpen = true;
			this.closedAt = now;
			return 'closed';
		}
		if (isCreate && !isQuestion) this.unclearCreates = 0;
		// Before a limit was reached, others that were in flight may have been accepted.
		const isLimit = opening?.reason === 'throttled' || opening?.reason === 'unclear';
		if (opening === undefined || (isLimit && !isProbe)) return 'nothing';
		if (this.isLong(now)) this.longIsOwnUntil = now + MINUTE_MS;
		delete this.opening;
		delete this.probe;
		this.longUntil = -Infinity;
		this.closedAt = now;
		return 'closed';
	}

	/** Why the end of a request opens the breaker; undefined if it doesn't. */
	private reasonOf(
		{ isCreate, isQuestion, startedAt }: Permit,
		condition: Condition,
		{ isProbe, now }: { isProbe: boolean; now: number },
	): OpenReason | undefined {
		if (condition === 'throttled' || cannotBeReached(condition)) return condition;
		if (condition === 'unavailable' || condition === 'broken') return 'unclear';
		if (condition === 'timedOut') {
			// A request that is slow while others are answered is slow by itself.
			const isSilent = this.answeredAt <= (startedAt + now) / 2;
			return isProbe || isSilent ? 'unclear' : undefined;
		}
		if (condition === 'unknown') return undefined;
		// The first answer of this kind may be about one item.
		return isQuestion || (isCreate && (isProbe || this.unclearCreates > 1)) ? 'unclear' : undefined;
	}

	private failed(
		permit: Permit,
		reason: OpenReason,
		{
			isProbe,
			now,
			retryAfterMs = 0,
		}: { isProbe: boolean; now: number; retryAfterMs: number | undefined },
	): Change {
		const isLong = retryAfterMs > LONG_WAIT_MS;
		this.longRetryAfters += Number(isLong);
		if (isLong && now < this.longIsOwnUntil && this.longRetryAfters < INITIAL_LIMIT) {
			this.longIsOwnUntil = now + MINUTE_MS;
			return 'nothing';
		}
		// That requests failed that started before it closed is known.
		if (!isProbe && permit.startedAt < this.closedAt && retryAfterMs === 0) return 'nothing';
		const wasClosed = this.opening === undefined;
		const opening = (this.opening ??= {
			...{ reason, since: now, probeAt: now, failedProbes: 0 },
			...{ isOfCreate: false, isHalfOpen: false },
		});
		const isHalfOpen = opening.isHalfOpen && isProbe;
		opening.isOfCreate ||= reason === 'unclear' && permit.isCreate && !permit.isQuestion;
		opening.isHalfOpen = false;
		opening.failedProbes += Number(isProbe);
		if (isProbe || retryAfterMs > 0) opening.reason = reason;
		if (isLong) this.longUntil = now + Math.min(retryAfterMs, MINUTE_MS);
		let firstMs = cannotBeReached(reason) ? FIRST_WAIT_AWAY_MS : FIRST_WAIT_MS;
		if (isLong || isHalfOpen) firstMs = LONG_WAIT_MS;
		const wait = backoffMs(opening.failedProbes, { firstMs, maxMs: LONG_WAIT_MS, jitter: 0.25 });
		const least = wasClosed || isProbe || isLong ? wait : 0;
		opening.probeAt = Math.max(opening.probeAt, now + Math.max(isLong ? 0 : retryAfterMs, least));
		if (isHalfOpen && this.unclearCreates >= MAX_UNCLEAR) {
			this.gaveUpAt = now;
			return 'gaveUp';
		}
		return wasClosed || isHalfOpen ? 'opened' : 'nothing';
	}
}
