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

/** A promise, and what fulfils it. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
	let resolve: (value: T) => void = () => undefined;
	const promise = new Promise<T>((fulfil) => (resolve = fulfil));
	return { promise, resolve };
}

/** Holds creates of a sandbox, in place of what was held before. */
export function holdCreates<Holds extends readonly Hold[]>(
	{ faults }: Sandbox,
	...holds: Holds
): { [Index in keyof Holds]: Held };
export function holdCreates({ faults }: Sandbox, ...holds: Hold[]): Held[] {
	const held = holds.map(([which, then]) => {
		const reached = deferred<PlannedCall>();
		const released = deferred<undefined>();
		const wait = { kind: 'wait', until: released.promise } as const;
		const plan: Fault[] =
			then === 'never made'
				? [
						{ ...wait, when: 'beforeActing' },
						{ kind: 'break', when: 'beforeActing' },
					]
				: [{ ...wait, when: 'afterActing' }];
		return { which, plan, reached, released };
	});
	faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		const hold = held.find(({ which }) => which === call.nOfOperation);
		hold?.reached.resolve(call);
		return hold?.plan;
	});
	return held.map(({ reached, released }) => ({
		reached: reached.promise,
		release: () => released.resolve(undefined),
	}));
}
