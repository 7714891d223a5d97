import type { Call, CalledOperation } from '../http/calls';
import type { Fault } from './fault';

/** A call as a plan sees it, before it has taken effect. */
export interface PlannedCall extends Omit<Call, 'status' | 'reason' | 'at'> {
	/** Which call it is since the plan was made, from 1. */
	n: number;
	/** The same among the calls of its operation. */
	nOfOperation: number;
}

/** Says what goes wrong with a call: nothing, a fault, or several in turn. */
export type Plan = (call: PlannedCall) => Fault | readonly Fault[] | undefined;

/** The faults that calls meet. Without a plan there are none. */
export class FaultPlan {
	private current: Plan | undefined;
	private calls = 0;
	private readonly callsOf = new Map<CalledOperation, number>();

	/** Makes this the plan, instead of the one before; counting starts again. */
	plan(plan: Plan): void {
		this.clear();
		this.current = plan;
	}

	/** From now on nothing goes wrong. */
	clear(): void {
		this.current = undefined;
		this.calls = 0;
		this.callsOf.clear();
	}

	/** The faults for the next call. Each call must ask once. */
	next(call: Call): readonly Fault[] {
		if (this.current === undefined) return [];
		const nOfOperation = (this.callsOf.get(call.operation) ?? 0) + 1;
		this.calls += 1;
		this.callsOf.set(call.operation, nOfOperation);
		return [this.current({ ...call, n: this.calls, nOfOperation }) ?? []].flat();
	}
}
