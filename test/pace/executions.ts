import { inParallel } from '../../nodes/JobOrchestration/execution/inParallel';
import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import { anyCall, newSender } from '../engine/sender';
import { statusFailure } from '../faults/statusFailure';
import { SetClock } from './requests';

/*
 * Executions of one account at a service, by a clock that a test sets: their items wait for the limiter, and are sent
 * again, as in the node.
 */

/** When the service answers a request, and whether it turns it away. */
export type Service = (request: { n: number; now: number }) => {
	after: number;
	status?: 429;
	/** Milliseconds. */
	retryAfter?: number;
};

/** What becomes of the items of one execution. */
export interface Execution {
	begunAt: number;
	/** In the order of their end. */
	done: Array<{ n: number; at: number }>;
	failed: number[];
	isOver: boolean;
	/** The most requests under way at once. */
	most: number;
}

/** Takes so many a second, and turns the others away. */
export function takes(perSecond: number, burst: number, retryAfter?: number): Service {
	let tokens = burst;
	let last = 0;
	return ({ now }) => {
		tokens = Math.min(burst, tokens + ((now - last) * perSecond) / 1_000);
		last = now;
		if (tokens < 1)
			return { after: 5, status: 429, ...(retryAfter !== undefined && { retryAfter }) };
		tokens -= 1;
		return { after: 20 };
	};
}

/** Takes so many in each minute; those that it turns away are told how long it lasts, or not. */
export function takesAMinute(most: number, { says }: { says: boolean }): Service {
	let minute = -1;
	let taken = 0;
	return ({ now }) => {
		const current = Math.floor(now / 60_000);
		if (current !== minute) [minute, taken] = [current, 0];
		taken += 1;
		if (taken <= most) return { after: 20 };
		const left = Math.ceil((current + 1) * 60 - now / 1_000) * 1_000;
		return { after: 5, status: 429, ...(says && { retryAfter: left }) };
	};
}

/** Executions at one service. */
export class Executions {
	readonly clock = new SetClock();
	private readonly account = new AccountLimiter(this.clock);
	private readonly all: Execution[] = [];

	constructor(private readonly service: Service) {}

	/** Runs one with these items, so many milliseconds from now. */
	begin(
		items: number[],
		{ after = 0, concurrency }: { after?: number; concurrency?: number } = {},
	) {
		const execution: Execution = { begunAt: 0, done: [], failed: [], isOver: false, most: 0 };
		this.all.push(execution);
		void this.run(execution, items, after, concurrency);
		return execution;
	}

	/** Lets time pass until all are over. @throws Error where one isn't after so many hours */
	async end(hours = 2): Promise<void> {
		for (let seconds = 0; seconds < hours * 3_600; seconds += 1) {
			if (this.all.every(({ isOver }) => isOver)) return;
			await this.clock.pass(1_000);
		}
		throw new Error(`Not over after ${hours} hours`);
	}

	private async run(
		execution: Execution,
		items: number[],
		after: number,
		concurrency: number | undefined,
	): Promise<void> {
		await this.clock.wait(after);
		execution.begunAt = this.clock.now();
		const limiter = this.account.forExecution({ concurrency });
		let underWay = 0;
		const work = async (n: number, letOthersTry: () => Promise<void>) => {
			const sender = newSender(
				async () => {
					underWay += 1;
					execution.most = Math.max(execution.most, underWay);
					const answer = this.service({ n, now: this.clock.now() });
					await this.clock.wait(answer.after);
					underWay -= 1;
					if (answer.status === undefined) return { body: 'done' };
					return { failure: { ...statusFailure(429), retryAfter: answer.retryAfter } };
				},
				{ limiter },
			);
			await sendWithRetries(sender, anyCall, { maxRetries: 0, timeout: 1_000, letOthersTry }).then(
				() => execution.done.push({ n, at: this.clock.now() }),
				() => execution.failed.push(n),
			);
		};
		await inParallel(items, concurrency, work);
		execution.isOver = true;
	}
}
