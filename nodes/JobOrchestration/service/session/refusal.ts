import type { Failure } from '../errors/failure';
import type { TrackedRequest } from './trackedRequest';

/** How long a refused login isn't repeated. With less, executions that start together could lock the account. */
const HOLDS_MS = 5_000;

/** The same within an execution. With less, each try of Retry On Fail (five, 5 s apart) would log in again. */
const HOLDS_FOR_EXECUTION_MS = 30_000;

/** The last login that was refused or given up, and the executions that were told so. */
export class Refusal {
	private last: { failure: Failure; since: number } | undefined;
	private told = new WeakSet<object>();

	/** @param asker undefined for another node */
	remember(failure: Failure, asker: TrackedRequest | undefined): void {
		this.last = { failure, since: Date.now() };
		if (asker !== undefined) this.told.add(asker.options.execution);
	}

	/** A login has succeeded. */
	forget(): void {
		this.last = undefined;
		this.told = new WeakSet();
	}

	/** Why no login may be made; undefined if one may. A login that was given up may be tried again with more time. */
	for(asker: TrackedRequest | undefined): Failure | undefined {
		if (this.last === undefined) return undefined;
		const { failure, since } = this.last;
		const wasTold = asker !== undefined && this.told.has(asker.options.execution);
		if (failure.kind === 'timeout' && (!wasTold || asker.options.timeout > (failure.after ?? 0))) {
			return undefined;
		}
		if (wasTold && mayBeWrongPassword(failure)) return failure;
		return isWithin(wasTold ? HOLDS_FOR_EXECUTION_MS : HOLDS_MS, since) ? failure : undefined;
	}
}

/** A refusal by any status of 400 to 499: the interface doesn't show which one. 404 and 405 mean that there is no login. */
function mayBeWrongPassword(failure: Failure): boolean {
	return failure.kind === 'status' && failure.status < 500 && ![404, 405].includes(failure.status);
}

/** Whether `since` is less than `ms` ago; false if it is undefined, or the clock went back. */
export function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}
