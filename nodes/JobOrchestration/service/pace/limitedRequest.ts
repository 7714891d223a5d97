import type { Result } from '../errors/response';
import { conditionOf, mayHaveActed } from '../errors/rules';
import { onAbort, unlessAborted } from '../timers';
import type { InFlightRequest, Outcome } from './breaker';
import { FIRST_WAIT_MS, LONG_WAIT_MS, MINUTE_MS } from './breaker';
import type { Denial, RunLimiter, WaitingRequest } from './limiter';
import { PATIENCE_MS } from './limiter';

/** How often a request is throttled before it may fail while others pass. With fewer, it could be by chance. */
const MAX_THROTTLED = 5;
/** How long a request is throttled before the next item starts beside it. With less, items would change their order. */
const DELAYED_MS = 1_000;

const ABORTED: Result<unknown> = { failure: { kind: 'cancelled', sent: true } };

interface RequestOptions {
	/** Whether sending it twice does more than sending it once. */
	isCreate: boolean;
	stop?: AbortSignal | undefined;
	/** Called when the request is throttled again and again, so that the next item can start beside it. */
	beginNext?: (() => void) | undefined;
	/** Asks the service something harmless. */
	ask: () => Promise<Result<unknown>>;
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest implements WaitingRequest {
	settle: WaitingRequest['settle'] = () => {};
	private readonly throttled = { times: 0, at: -Infinity, firstAt: Infinity };
	/** Milliseconds that it waits for itself alone: in all, and before it is sent again. */
	private ownWaitMs = 0;
	private nextWaitMs = 0;

	constructor(
		readonly run: RunLimiter,
		readonly options: RequestOptions,
	) {}

	/**
	 * Makes an attempt once there is a permit for it, which ends with it.
	 *
	 * @param attempt gets to know which probe in a row it is, from 1, and calls `onSent` when a login no longer delays it
	 * @throws what the attempt throws
	 */
	async send<Answer extends Result<unknown>>(
		attempt: (permit: { probe: number; onSent: () => void }) => Promise<Answer>,
	): Promise<Answer | { denial: Denial }> {
		const { clock } = this.run.account;
		for (;;) {
			const inFlight = await this.acquire();
			if (!('startedAt' in inFlight)) return { denial: inFlight };
			if (inFlight.isQuestion) {
				const answer = unlessAborted(this.options.ask(), this.options.stop);
				this.release(inFlight, await answer.catch(() => ABORTED));
				continue;
			}
			const onSent = () => void (inFlight.idleBefore = clock.idle());
			let result = ABORTED;
			try {
				const answer = await attempt({ probe: inFlight.probe, onSent });
				result = answer;
				return answer;
			} finally {
				this.release(inFlight, result);
			}
		}
	}

	get wasThrottled(): boolean {
		return this.throttled.times > 0;
	}

	private async acquire(): Promise<InFlightRequest | Denial> {
		const { run, throttled, ownWaitMs, nextWaitMs } = this;
		const { stop, beginNext } = this.options;
		const isHopeless = throttled.times >= MAX_THROTTLED && ownWaitMs > PATIENCE_MS;
		const isStopped = stop?.aborted === true;
		if (isStopped || isHopeless || nextWaitMs >= (run.limits.patienceMs ?? Infinity)) return {};
		// What ends the creates of a run doesn't keep it from ending their jobs.
		const isDenied = this.options.isCreate || !run.execution.wasAnswered;
		if (isDenied && run.denial !== undefined) return run.denial;
		if (nextWaitMs > 0 || run.account.clock.now() >= throttled.firstAt + DELAYED_MS) beginNext?.();
		return await new Promise((resolve) => {
			const stopListening = onAbort(stop, () => this.settle({}));
			this.settle = (result) => {
				stopListening();
				if (!('startedAt' in result)) run.account.remove(this);
				resolve(result);
			};
			run.account.add(this, nextWaitMs);
		});
	}

	private release(inFlight: InFlightRequest, result: Result<unknown>): void {
		const { run } = this;
		const failure = 'failure' in result ? result.failure : undefined;
		let outcome: Outcome = { kind: 'answered' };
		if (failure !== undefined) {
			outcome = { ...conditionOf(failure), mayHaveActed: mayHaveActed(failure) };
		}
		run.execution.wasAnswered ||= ['answered', 'throttled', 'unavailable'].includes(outcome.kind);
		run.failure = outcome.kind === 'unknown' ? undefined : failure;
		const isOwn = this.noteOwnWait(outcome);
		run.account.release(run, inFlight, isOwn ? { kind: 'unknown' } : outcome);
	}

	/** @returns whether it is throttled alone: others were answered since it was throttled before */
	private noteOwnWait({ kind, retryAfter = 0 }: Outcome): boolean {
		const { throttled } = this;
		const { clock, pace } = this.run.account;
		this.nextWaitMs = 0;
		if (kind !== 'throttled') return false;
		const isOwn =
			throttled.times > Number(retryAfter > 0) && pace.breaker.answeredAt > throttled.at;
		throttled.times += 1;
		throttled.at = clock.now();
		throttled.firstAt = Math.min(throttled.firstAt, throttled.at);
		// All requests wait for a short Retry-After.
		if (isOwn || retryAfter > LONG_WAIT_MS) {
			// Squared, since doubled waits would waste what a slow service takes.
			const backoff = isOwn ? Math.min(FIRST_WAIT_MS * throttled.times ** 2, LONG_WAIT_MS) : 0;
			this.nextWaitMs = Math.max(Math.min(retryAfter, MINUTE_MS), backoff);
			this.ownWaitMs += this.nextWaitMs;
		}
		// Its first times have lowered the rate of all.
		if (isOwn && throttled.times > 2) pace.rate.startSlowly();
		return isOwn;
	}
}
