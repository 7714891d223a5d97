import type { Fault, Plan } from '../../../sandbox';

/** What services do with creates that no limit of the sandbox describes. */
export const plans = {
	/** The namespace `full` takes no more, for longer than anybody waits. */
	fullForAMinute: () => onCreate(({ path }) => tooManyIn(path, 60)),
	fullForAnHour: () => onCreate(({ path }) => tooManyIn(path, 3_600)),

	/** Turns away a tenth by chance, the same in each run. */
	aTenth: () => {
		let random = 1;
		return onCreate(() => {
			random = (random * 1_664_525 + 1_013_904_223) % 2 ** 32;
			return random < 2 ** 32 / 10 ? { kind: 'rateLimit' } : undefined;
		});
	},

	/** Takes 50 in each half of a second; the date of the next is in whole seconds, as all dates of HTTP. */
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

	/** The more are under way, the longer each takes: it does most with six, and next to nothing with a hundred. */
	congested: () => {
		let underWay = 0;
		return onCreate(() => {
			underWay += 1;
			const until = new Promise<void>((resolve) => {
				setTimeout(resolve, 20 + underWay ** 2 / 2);
			}).finally(() => (underWay -= 1));
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
