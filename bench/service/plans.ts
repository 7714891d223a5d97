import type { Fault, Plan } from '../../sandbox';

/** What services do with creates that no limit of the sandbox describes. */
export const plans = {
	/** The namespace `full` takes no more jobs, for longer than a client waits. */
	fullForAMinute: () => onCreate(({ path }) => tooManyIn(path, 60)),
	fullForAnHour: () => onCreate(({ path }) => tooManyIn(path, 3_600)),

	/** Rejects a tenth by chance, the same in each run. */
	aTenth: () => {
		let random = 1;
		return onCreate(() => {
			random = (random * 1_664_525 + 1_013_904_223) % 2 ** 32;
			return random < 2 ** 32 / 10 ? { kind: 'rateLimit' } : undefined;
		});
	},

	/** Takes 50 in each half second; the date of the next one is in whole seconds, as all dates of HTTP are. */
	window: () => {
		let current = 0;
		let taken = 0;
		return onCreate(() => {
			const window = Math.floor(Date.now() / 500);
			if (window !== current) [current, taken] = [window, 0];
			taken += 1;
			if (taken <= 50) return undefined;
			return { kind: 'rateLimit', retryAfter: new Date(Math.ceil((window + 1) / 2) * 1_000) };
		});
	},

	/** Each open request makes the others slower: it does most with six, and next to nothing with a hundred. */
	congested: () => {
		let open = 0;
		return onCreate(() => {
			open += 1;
			const until = new Promise<void>((resolve) => {
				setTimeout(resolve, 20 + open ** 2 / 2);
			}).finally(() => (open -= 1));
			return { kind: 'wait', when: 'beforeActing', until };
		});
	},
} satisfies Record<string, () => Plan>;

export type PlanName = keyof typeof plans;

function onCreate(plan: Plan): Plan {
	return (call) => (call.operation === 'createJob' ? plan(call) : undefined);
}

function tooManyIn(path: string, retryAfter: number): Fault | undefined {
	return path.includes('/namespaces/full/') ? { kind: 'rateLimit', retryAfter } : undefined;
}
