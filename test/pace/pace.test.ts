import { statusFailure } from '../reliability/statusFailure';
import { Executions, range } from './executions';
import type { Service } from './services';
import {
	atOnce,
	bucket,
	byChance,
	connections,
	during,
	open,
	randomFrom,
	rejected,
	windowed,
} from './services';

/** What a batch may cost: seconds, requests that are sent again, and jobs that may exist. */
interface Bounds {
	seconds: number;
	again?: number;
	uncertain?: number;
	/** Whether each job has an execution of its own. */
	isOneEach?: boolean;
}

const bare503 = statusFailure(503);
const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' } as const;
const quick = open(() => 5);
const failsCreates = (n: number) => (Number.isNaN(n) ? undefined : bare503);

const rows: Array<[name: string, jobs: number, bounds: Bounds, service: () => Service]> = [
	['100/s, burst 20', 600, { seconds: 8, again: 40 }, () => bucket(100, 20)],
	[
		'the same, Retry-After 1',
		600,
		{ seconds: 11, again: 25 },
		() => bucket(100, 20, { failure: rejected(1_000) }),
	],
	['200/s, burst 20', 1_000, { seconds: 7, again: 40 }, () => bucket(200, 20)],
	['10/s', 150, { seconds: 17, again: 70 }, () => bucket(10, 10)],
	['2/s', 40, { seconds: 24, again: 80 }, () => bucket(2, 2)],
	['100 in each second', 600, { seconds: 7, again: 40 }, () => windowed(100, 1_000)],
	[
		'60 in a minute, and says so',
		240,
		{ seconds: 195, again: 90 },
		() => windowed(60, 60_000, true),
	],
	[
		'100/s, bare 503',
		600,
		{ seconds: 7, uncertain: 11 },
		() => bucket(100, 100, { failure: bare503 }),
	],
	['four at once at 50 ms', 200, { seconds: 3 }, () => atOnce(4, 50)],
	['50 ms, no limit', 1_000, { seconds: 1.5 }, () => open(() => 50)],
	['a tenth rejected by chance', 600, { seconds: 60, again: 100 }, () => byChance(0.1, rejected())],
	['away for 8 s', 600, { seconds: 14, again: 30 }, () => during(300, 8_300, unreachable, quick)],
	[
		'rejects all for 30 s',
		600,
		{ seconds: 37, again: 30 },
		() => during(300, 30_300, rejected(), quick),
	],
	['takes 20 connections', 600, { seconds: 3, uncertain: 10 }, () => connections(20, 50)],
	['80 executions at 300 ms', 80, { seconds: 2, isOneEach: true }, () => open(() => 300)],
	[
		'80 executions, ten at once',
		80,
		{ seconds: 4, uncertain: 5, isOneEach: true },
		() => connections(10, 300, bare503),
	],
	['creates always get a 503', 300, { seconds: 8, uncertain: 12 }, () => failsCreates],
];

afterEach(() => jest.restoreAllMocks());

test.each(rows)(
	'%s',
	async (_, jobs, { seconds, again = 0, uncertain = 0, isOneEach }, service) => {
		jest.spyOn(Math, 'random').mockImplementation(randomFrom(1));
		const executions = new Executions(service(), 0.8);
		const batches = isOneEach === true ? range(jobs).map((n) => [n]) : [range(jobs)];
		const all = batches.map((batch) => executions.begin(batch));
		await executions.end();
		const sent = all.flatMap((execution) => execution.sent);
		const failed = all.flatMap((execution) => execution.failed);
		const mayExist = failed.filter(
			({ error }) => 'mayHaveActed' in error && error.mayHaveActed === true,
		);
		expect(all.flatMap(({ done }) => done).length + failed.length).toBe(jobs);
		expect(executions.clock.now() - 1_000).toBeLessThanOrEqual(seconds * 1_000);
		expect(sent.length - new Set(sent.map(({ n }) => n)).size).toBeLessThanOrEqual(again);
		expect(mayExist.length).toBeLessThanOrEqual(uncertain);
		// Only creates that always fail are given up; else nothing fails but what may exist.
		if (service() !== failsCreates) expect(failed).toHaveLength(mayExist.length);
	},
);
