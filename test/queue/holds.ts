import type { Fault, PlannedCall, Sandbox } from '../../sandbox';

/** A create that is held, so that something can be killed just then. */
export interface Held {
	/** Resolves with the call when it is held. */
	reached: Promise<PlannedCall>;
	/** Lets the call go on. */
	release(): void;
}

/** Which create is held, counted from now, and what happens to it when it is let go. */
export type Hold = [which: number, then: 'made, not answered' | 'never made'];

/** Holds creates of a sandbox, instead of what was held before. */
export function holdCreates({ faults }: Sandbox, holds: Hold[]): Held[] {
	const reach = new Map<number, (call: PlannedCall) => void>();
	const plans = new Map<number, Fault[]>();
	const held = holds.map(([which, then]) => {
		let release = (): void => {};
		const until = new Promise<void>((resolve) => (release = resolve));
		const reached = new Promise<PlannedCall>((resolve) => reach.set(which, resolve));
		const when = then === 'never made' ? 'beforeActing' : 'afterActing';
		const wait: Fault = { kind: 'wait', when, until };
		plans.set(which, then === 'never made' ? [wait, { kind: 'break', when }] : [wait]);
		return { reached, release: () => release() };
	});
	faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		reach.get(call.nOfOperation)?.(call);
		return plans.get(call.nOfOperation);
	});
	return held;
}
