import type { Call, CalledOperation } from '../http/calls';
import type { Fault } from './fault';

/** A call as a plan gets it: it hasn't been processed yet. */
export interface PlannedCall extends Omit<Call, 'status' | 'reason' | 'at'> {
	/** The number of the call among the calls of the same operation, counted from 1 since the plan was set. */
	nOfOperation: number;
}

/** Returns the faults that a call meets: none, one, or several, which strike in this order. */
export type Plan = (call: PlannedCall) => Fault | readonly Fault[] | undefined;

/** Determines the faults that calls meet. Without a plan, no call meets a fault. */
export class FaultPlan {
	private current: Plan | undefined;
	private readonly callsOf = new Map<CalledOperation, number>();

	/** Replaces the plan, and counts the calls from 1 again. */
	plan(plan: Plan): void {
		this.clear();
		this.current = plan;
	}

	/** Removes the plan. */
	clear(): void {
		this.current = undefined;
		this.callsOf.clear();
	}

	/** Counts a call, and returns its faults. Must be called once for each call. */
	next(call: Call): readonly Fault[] {
		if (this.current === undefined) return [];
		const nOfOperation = (this.callsOf.get(call.operation) ?? 0) + 1;
		this.callsOf.set(call.operation, nOfOperation);
		return [this.current({ ...call, nOfOperation }) ?? []].flat();
	}
}
