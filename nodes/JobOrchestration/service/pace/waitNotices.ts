import type { Hold } from './pace';

/** Milliseconds of waiting that n8n's log mentions. */
const LONG_WAIT = 3_000;

/** What n8n's log says of a long wait. */
export type WaitNotice =
	| { kind: 'waiting'; reason: Hold['reason'] }
	/** After so many milliseconds. */
	| { kind: 'resumed'; after: number };

/** Who is told of long waits. */
interface Listener {
	readonly notify: (notice: WaitNotice) => void;
}

/** Tells each waiting execution once of a long wait, and once of its end. */
export class WaitNotices {
	private hold: Hold | undefined;
	private readonly told = new Set<Listener>();

	/** @param hold why all wait now, where they do */
	give(hold: Hold | undefined, now: number, waiting: ReadonlyArray<{ execution: Listener }>): void {
		if (hold !== this.hold) {
			const after = now - (this.hold?.since ?? now);
			for (const execution of this.told) execution.notify({ kind: 'resumed', after });
			this.told.clear();
			this.hold = hold;
		}
		if (hold === undefined || now - hold.since < LONG_WAIT) return;
		for (const { execution } of waiting) {
			if (this.told.has(execution)) continue;
			this.told.add(execution);
			execution.notify({ kind: 'waiting', reason: hold.reason });
		}
	}

	/** Milliseconds until a wait becomes a long one; Infinity where none does. */
	delay(hold: Hold | undefined, now: number): number {
		const left = hold === undefined ? 0 : hold.since + LONG_WAIT - now;
		return left > 0 ? left : Infinity;
	}
}
