import { Executions, takes, takesAMinute } from './executions';
import type { Service } from './executions';

const range = (count: number) => Array.from({ length: count }, (_, n) => n);

test.each<[service: string, Service, every: number, longest: number]>([
	['5 a second', takes(5, 1), 3_700, 4],
	['2 a second', takes(2, 2), 3_700, 4],
	['20 a second, with Retry-After: 1', takes(20, 20, 1_000), 3_700, 4],
	['100 a minute, and says so', takesAMinute(100, { says: true }), 3_700, 65],
	['100 a minute, and does not say so', takesAMinute(100, { says: false }), 3_700, 75],
])(
	'an execution of one item does not wait for all of a batch where the service takes %s',
	async (_, service, every, longest) => {
		const executions = new Executions(service);
		const batch = executions.begin(range(400));
		const others = range(15).map((n) => executions.begin([n], { after: 1_000 + n * every }));
		await executions.end();
		expect(batch.done).toHaveLength(400);
		const waits = others.map(({ begunAt, done }) => ((done[0]?.at ?? NaN) - begunAt) / 1_000);
		expect(Math.max(...waits)).toBeLessThanOrEqual(longest);
	},
);

test.each([
	['10 a second', takes(10, 5)],
	['1 a second', takes(1, 1)],
])('with Concurrency 1, items keep their order where the service takes %s', async (_, service) => {
	const executions = new Executions(service);
	const { done, most } = executions.begin(range(60), { concurrency: 1 });
	await executions.end();
	expect(done.map(({ n }) => n)).toEqual(range(60));
	expect(most).toBeLessThanOrEqual(1);
});

test.each([
	[55, 20, 1],
	[30, 45, 1],
	[55, 20, undefined],
])(
	'no item fails at a service that turns all away for %i s and then takes %i s for each, with Concurrency %s',
	async (away, slow, concurrency) => {
		const executions = new Executions(({ now }) =>
			now < away * 1_000 ? { after: 5, status: 429 } : { after: slow * 1_000 },
		);
		const execution = executions.begin(range(10), { ...(concurrency && { concurrency }) });
		await executions.end();
		expect(execution.failed).toEqual([]);
	},
);

test.each([
	['of a thousand, each time for 33 s', 1, 1_000, undefined, 33_000, 150],
	['of a hundred, each time for 33 s, with Concurrency 1', 1, 100, 1, 33_000, 150],
	['of a thousand, each time for a second, with Concurrency 1', 1, 1_000, 1, 1_000, 150],
	['of a thousand, with Concurrency 1', 1, 1_000, 1, undefined, 150],
	['of a thousand, each time for a minute', 10, 1_000, undefined, 60_000, 200],
])(
	'those that are always turned away cost the others little: %s',
	async (_, away, all, concurrency, retryAfter, seconds) => {
		const executions = new Executions(({ n }) =>
			n < away
				? { after: 5, status: 429, ...(retryAfter !== undefined && { retryAfter }) }
				: { after: 20 },
		);
		const execution = executions.begin(range(all), { ...(concurrency && { concurrency }) });
		await executions.end();
		expect(execution.failed.sort((a, b) => a - b)).toEqual(range(away));
		expect(executions.clock.now() / 1_000).toBeLessThanOrEqual(seconds);
	},
);
