import type { Failure, FailureOf } from '../../nodes/JobOrchestration/service/request/failure';
import type { Clock } from '../../nodes/JobOrchestration/service/pace/clock';
import type {
	AccountLimiter,
	ExecutionLimiter,
	QueuePosition,
	Permit,
	Denial,
} from '../../nodes/JobOrchestration/service/pace/limiter';
import type { WaitNotice } from '../../nodes/JobOrchestration/service/pace/waitNotices';

/*
 * Requests that ask a limiter whether they may begin, by a clock that a test sets.
 */

/** A clock that goes when it is told to. */
export class SetClock implements Clock {
	random = () => 1;
	private time = 1_000;
	private timers: Array<{ at: number; ring: () => void }> = [];

	now(): number {
		return this.time;
	}

	idle(): number {
		return this.time;
	}

	async wait(milliseconds: number): Promise<void> {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	}

	async pause(): Promise<void> {
		await this.wait(1);
	}

	/** How many wait for it to go on. */
	get waiting(): number {
		return this.timers.length;
	}

	/** Lets so many milliseconds pass, and whatever is due happen in them. */
	async pass(milliseconds: number): Promise<void> {
		const end = this.time + milliseconds;
		for (;;) {
			await settled();
			const next = Math.min(...this.timers.map(({ at }) => at));
			if (next > end) break;
			this.time = next;
			const due = this.timers.filter(({ at }) => at <= next);
			this.timers = this.timers.filter(({ at }) => at > next);
			for (const { ring } of due) ring();
		}
		this.time = end;
		await settled();
	}
}

export const settled = async () => await new Promise((resolve) => setImmediate(resolve));

export const tooMany: FailureOf<'status'> = {
	kind: 'status',
	status: 429,
	text: 'slowly',
	retryAfter: undefined,
};
export const refused: Failure = { kind: 'unreachable', code: 'ECONNREFUSED' };

/** Requests of an execution, and what becomes of them: a permit, a refusal, or nothing yet. */
export function come(
	execution: ExecutionLimiter,
	count: number,
	stop?: AbortSignal,
	position?: QueuePosition,
): Array<Permit | Denial | undefined> {
	const all: Array<Permit | Denial | undefined> = new Array<undefined>(count).fill(undefined);
	all.forEach((_, index) => {
		void execution.acquire(stop, position).then((permit) => (all[index] = permit));
	});
	return all;
}

export const permitAt = (all: Array<Permit | Denial | undefined>, index: number): Permit => {
	const permit = all[index];
	if (permit === undefined || 'denied' in permit) throw new Error(`Request ${index} has no permit`);
	return permit;
};
export const begun = (all: Array<Permit | Denial | undefined>) =>
	all.filter((permit) => permit !== undefined && !('denied' in permit)).length;
export const without = (all: Array<Permit | Denial | undefined>) =>
	all.filter((permit) => permit !== undefined && 'denied' in permit);

/** An execution that the service has answered. */
export async function answered(
	limiter: AccountLimiter,
	most?: number,
	notify?: (notice: WaitNotice) => void,
): Promise<ExecutionLimiter> {
	const execution = limiter.forExecution({
		concurrency: most,
		...(notify === undefined ? {} : { notify }),
	});
	const first = come(execution, 1);
	await settled();
	permitAt(first, 0).release({ kind: 'otherAnswer' });
	return execution;
}
