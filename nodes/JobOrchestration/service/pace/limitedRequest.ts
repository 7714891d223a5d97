import type { Result } from '../errors/response';
import type { Consequence } from '../errors/rules';
import { ANSWERED, consequenceOf, UNKNOWN } from '../errors/rules';
import type { RequestOptions } from '../request';
import { onAbort, unlessAborted } from '../timers';
import type { Permit } from './breaker';
import { FIRST_WAIT_MS, LONG_WAIT_MS, MINUTE_MS } from './breaker';
import type { Denial, RunLimiter, WaitingRequest } from './limiter';
import { PATIENCE_MS } from './limiter';

/** How often a request is throttled before it may fail while others pass. With fewer, it could be by chance. */
const MAX_THROTTLED = 5;
/** How long a request is throttled before the next item starts beside it. With less, items would change their order. */
const DELAYED_MS = 1_000;

const ABORTED: Result<unknown> = { failure: { kind: 'cancelled', sent: true } };

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest implements WaitingRequest {
	settle: WaitingRequest['settle'] = () => {};
	private readonly throttled = { times: 0, at: -Infinity, firstAt: Infinity };
	/** Milliseconds that it waits for itself alone: in all, and before it is sent again. */
	private ownWaitMs = 0;
	private nextWaitMs = 0;

	/**
	 * @param isCreate whether sending it twice does more than sending it once
	 * @param ask asks the service something harmless
	 */
	constructor(
		readonly run: RunLimiter,
		private readonly options: RequestOptions,
		readonly isCreate: boolean,
		private readonly ask: () => Promise<Result<unknown>>,
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
			const permit = await this.acquire();
			if (!('startedAt' in permit)) return { denial: permit };
			if (permit.isQuestion) {
				const answer = unlessAborted(this.ask(), this.options.signal);
				this.release(permit, await answer.catch(() => ABORTED));
				continue;
			}
			const onSent = () => void (permit.idleBefore = clock.idle());
			let result = ABORTED;
			try {
				const answer = await attempt({ probe: permit.probe, onSent });
				result = answer;
				return answer;
			} finally {
				this.release(permit, result);
			}
		}
	}

	get wasThrottled(): boolean {
		return this.throttled.times > 0;
	}

	private async acquire(): Promise<Permit | Denial> {
		const { run, throttled, ownWaitMs, nextWaitMs } = this;
		const { signal, beginNext } = this.options;
		const isHopeless = throttled.times >= MAX_THROTTLED && ownWaitMs > PATIENCE_MS;
		const isStopped = signal?.aborted === true;
		if (isStopped || isHopeless || nextWaitMs >= (run.limits.patienceMs ?? Infinity)) return {};
		// What ends the creates of a run doesn't keep it from ending their jobs.
		const isDenied = this.isCreate || !run.execution.wasAnswered;
		if (isDenied && run.denial !== undefined) return run.denial;
		if (nextWaitMs > 0 || run.account.clock.now() >= throttled.firstAt + DELAYED_MS) beginNext?.();
		return await new Promise((resolve) => {
			const stopListening = onAbort(signal, () => this.settle({}));
			this.settle = (result) => {
				stopListening();
				if (!('startedAt' in result)) run.account.remove(this);
				resolve(result);
			};
			run.account.add(this, nextWaitMs);
		});
	}

	private release(permit: Permit, result: Result<unknown>): void {
		const { run } = this;
		const failure = 'failure' in result ? result.failure : undefined;
		const consequence = failure === undefined ? ANSWERED : consequenceOf(failure);
		const { condition } = consequence;
		run.execution.wasAnswered ||= ['answered', 'failed', 'throttled', 'unavailable'].includes(
			condition,
		);
		run.failure = condition === 'unknown' ? undefined : failure;
		const isOwn = this.noteOwnWait(consequence);
		run.account.release(run, permit, isOwn ? UNKNOWN : consequence);
	}

	/** @returns whether it is throttled alone: others were answered since it was throttled before */
	private noteOwnWait({ condition, retryAfterMs = 0 }: Consequence): boolean {
		const { throttled } = this;
		const { clock, pace } = this.run.account;
		this.nextWaitMs = 0;
		if (condition !== 'throttled') return false;
		const isOwn =
			throttled.times > Number(retryAfterMs > 0) && pace.breaker.answeredAt > throttled.at;
		throttled.times += 1;
		throttled.at = clock.now();
		throttled.firstAt = Math.min(throttled.firstAt, throttled.at);
		// All requests wait for a short Retry-After.
		if (isOwn || retryAfterMs > LONG_WAIT_MS) {
			// Squared, since doubled waits would waste what a slow service takes.
			const backoff = isOwn ? Math.min(FIRST_WAIT_MS * throttled.times ** 2, LONG_WAIT_MS) : 0;
			this.nextWaitMs = Math.max(Math.min(retryAfterMs, MINUTE_MS), backoff);
			this.ownWaitMs += this.nextWaitMs;
		}
		// Its first times have lowered the rate of all.
		if (isOwn && throttled.times > 2) pace.rate.startSlowly();
		return isOwn;
	}
}
