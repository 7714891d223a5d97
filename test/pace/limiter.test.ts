import { broken, statusFailure, unreachable } from '../reliability/statusFailure';
import { Executions, lastAt, mayExist, range, seconds } from './executions';
import { atOnce, bucket, byChance, connections, during, open, rejected } from './services';
import { type Service, useSameRandomNumbers, windowed } from './services';

/*
 * All items end within a certain time and with few repeated requests, even if a service is limited, overloaded or
 * unavailable. The tests run in virtual time.
 */

useSameRandomNumbers();

const items = (events: Array<{ n: number }>) => events.map(({ n }) => n).sort((a, b) => a - b);
const bare503 = statusFailure(503);
const quick = open(() => 5);
const failsCreates: Service = (n) => (Number.isNaN(n) ? undefined : bare503);

const batch = (count: number) => [range(count)];
const each = (count: number) => range(count).map((n) => [n]);

/** Executions, and the most that they may take: seconds, requests that are sent again, and jobs that may exist. */
type Row = [
	...[name: string, executions: number[][], service: () => Service],
	...[seconds: number, again?: number, uncertain?: number],
];
test.each<Row>([
	['takes 100 a second, 20 at once', batch(600), () => bucket(100, 20), 8, 40],
	['also says Retry-After 1', batch(600), () => bucket(100, 20, rejected(1_000)), 11, 25],
	['takes 200 a second', batch(1_000), () => bucket(200, 20), 7, 40],
	['takes 10 a second', batch(150), () => bucket(10, 10), 17, 70],
	['takes 2 a second', batch(40), () => bucket(2, 2), 24, 80],
	['takes 100 in each second', batch(600), () => windowed(100, 1_000), 8, 40],
	['takes 60 in each minute, and says so', batch(240), () => windowed(60, 60_000, true), 195, 90],
	['answers a bare 503 above its limit', batch(600), () => bucket(100, 100, bare503), 7, 0, 11],
	['works on four at once for 50 ms', batch(200), () => atOnce(4, 50), 3],
	['answers in 50 ms, without a limit', batch(1_000), () => open(() => 50), 1.5],
	['rejects a tenth by chance', batch(600), () => byChance(0.1, rejected()), 30, 100],
	['is away for 8 s', batch(600), () => during(300, 8_300, unreachable, quick), 14, 30],
	['rejects all for 30 s', batch(600), () => during(300, 30_300, rejected(), quick), 37, 30],
	['says Retry-After 60', batch(40), () => during(0, 55_000, rejected(60_000), quick), 125, 30],
	['says Retry-After 2', batch(40), () => during(0, 55_000, rejected(2_000), quick), 70, 35],
	['breaks all but 20 connections', batch(600), () => connections(20, 50), 3, 0, 10],
	['answers executions of one in 300 ms', each(80), () => open(() => 300), 2],
	['takes ten of them at once', each(80), () => connections(10, 300, bare503), 4, 0, 5],
	['answers each create with a 503', batch(300), () => failsCreates, 8, 0, 14],
])(
	'All items end within their limits at a service that %s',
	async (_, batches, service, longest, again = 0, uncertain = 0) => {
		const executions = new Executions(service(), 0.8);
		const all = batches.map((batch) => executions.begin(batch));
		await executions.end();
		const sent = all.flatMap((execution) => execution.sent);
		const failed = all.flatMap((execution) => execution.failed);
		expect(all.flatMap(({ done }) => done).length + failed.length).toBe(batches.flat().length);
		expect(executions.clock.now() - seconds(1)).toBeLessThanOrEqual(seconds(longest));
		expect(sent.length - new Set(sent.map(({ n }) => n)).size).toBeLessThanOrEqual(again);
		expect(mayExist(failed).length).toBeLessThanOrEqual(uncertain);
		// Only creates that always fail are given up. At any other service, an item fails only if its job may exist.
		if (service() !== failsCreates) expect(failed).toEqual(mayExist(failed));
	},
);

test.each([
	['5 a second', bucket(5, 1), 1],
	['2 a second', bucket(2, 2), 1],
	['20 a second, and Retry-After is 1', bucket(20, 20, rejected(seconds(1))), 2],
])('A single item starts soon although a batch is running at %s', async (_, service, longest) => {
	const executions = new Executions(service);
	const batch = executions.begin(range(150));
	for (let n = 0; n < 8; n += 1) {
		await executions.clock.pass(2_700);
		const begunAt = executions.clock.now() - seconds(1);
		const single = executions.begin([n]);
		await executions.clock.pass(seconds(6));
		expect(single.done).toHaveLength(1);
		expect(Number(single.sent[0]?.at) - begunAt).toBeLessThanOrEqual(seconds(longest));
	}
	await executions.end();
	expect(batch.done).toHaveLength(150);
});

describe('Items that are always rejected', () => {
	test.each<[string, (n: number) => boolean, retryAfter: number | undefined, longest: number]>([
		['15 in a row', (n) => n < 15, 60, 7],
		['one in ten', (n) => n % 10 === 3, 3_600, 12],
		['15 in a row, without Retry-After', (n) => n < 15, undefined, 12],
		['15 in a row, Retry-After 1', (n) => n < 15, 1, 60],
		['the first half', (n) => n < 100, undefined, 400],
		['all but the last fifty', (n) => n < 150, undefined, 500],
	])('do not delay the others: %s', async (_, isRejected, retryAfter, longest) => {
		const failure = rejected(retryAfter && seconds(retryAfter));
		const executions = new Executions((n) => (isRejected(n) ? failure : undefined));
		const execution = executions.begin(range(200));
		await executions.end();
		expect(items(execution.done)).toEqual(range(200).filter((n) => !isRejected(n)));
		expect(lastAt(execution.done)).toBeLessThanOrEqual(seconds(longest));
		expect(execution.failed[0]?.error).toMatchObject({ failure });
		expect(lastAt(execution.failed)).toBeLessThanOrEqual(seconds(700));
	});

	test.each([
		[seconds(60), 12],
		// Each Retry-After of up to 5 s stops all requests.
		[seconds(1), 70],
	])(
		'do not delay another execution (Retry-After %s), and fail while other items succeed',
		async (retryAfter, longest) => {
			const executions = new Executions((n) =>
				n < 20 ? rejected(retryAfter) : n < 320 ? undefined : { after: 500 },
			);
			const rejectedOnes = executions.begin(range(20));
			await executions.clock.pass(100);
			const other = executions.begin(range(320).slice(20));
			await executions.clock.pass(seconds(longest));
			expect(other.isOver).toBe(true);
			expect(other.failed).toEqual([]);
			const steady = executions.begin(range(1_320).slice(320), { concurrency: 1 });
			await executions.clock.pass(seconds(360));
			expect(rejectedOnes.failed).toHaveLength(20);
			steady.stop();
			await executions.end();
			expect(steady.failed).toEqual([]);
		},
	);
});

test('Some items that always get a 500 do not delay the others', async () => {
	const executions = new Executions((n) => (n % 20 === 3 ? statusFailure(500) : undefined));
	const execution = executions.begin(range(1_000));
	await executions.end();
	expect(execution.done).toHaveLength(950);
	expect(lastAt(execution.done)).toBeLessThan(seconds(5));
});

test('While creates are sent one at a time after an outage, reads are not delayed', async () => {
	const executions = new Executions((n, at) => {
		if (Number.isNaN(n) || n >= 100) return { after: 100 };
		return at < 50 ? broken : { after: seconds(1) };
	});
	const creates = executions.begin(range(100));
	const reads = executions.begin(range(130).slice(100), { creates: false });
	await executions.end();
	expect(reads.done).toHaveLength(30);
	expect(lastAt(reads.done)).toBeLessThan(seconds(1));
	expect(creates.sent.filter(({ at }) => at > 60 && at < seconds(1)).length).toBeLessThanOrEqual(1);
});

test.each([
	// The item is sent three times.
	[1, 125],
	// Requests that sleep fail together with those that wait.
	[300, 80],
])(
	'%i items that are always told to wait for a minute fail within %i s',
	async (count, longest) => {
		const executions = new Executions(() => rejected(seconds(60)));
		const { failed } = executions.begin(range(count));
		await executions.end();
		expect(failed).toHaveLength(count);
		expect(lastAt(failed)).toBeLessThan(seconds(longest));
	},
);

describe('Every execution ends', () => {
	test('at a Concurrency of 1, if a request fails while it keeps its place', async () => {
		const executions = new Executions(() => unreachable);
		const limits = { concurrency: 1, execution: {} };
		const hasty = executions.begin([0], { ...limits, maxRetries: 0 });
		const patient = executions.begin(range(5), { ...limits, maxRetries: 5 });
		await executions.end();
		expect([hasty.failed.length, patient.failed.length]).toEqual([1, 5]);
	});

	test('if creates get no clear response but lists do', async () => {
		const executions = new Executions((n) => (n >= 1_000 ? undefined : failsCreates(n, 0)));
		const creates = range(100).map((n) => executions.begin([n]));
		for (let n = 1_000; n < 1_100; n += 1) {
			executions.begin([n], { creates: false });
			await executions.clock.pass(seconds(1));
		}
		expect(creates.every(({ isOver }) => isOver)).toBe(true);
		expect(creates.flatMap(({ failed }) => mayExist(failed)).length).toBeLessThanOrEqual(30);
		await executions.end();
	});
});

test('While health checks are answered and creates are throttled, the probes become fewer', async () => {
	const executions = new Executions((n, at) =>
		Number.isNaN(n) ? undefined : at < 20 ? broken : rejected(),
	);
	const { sent, healthChecks } = executions.begin(range(500));
	await executions.end();
	expect(healthChecks.length).toBeLessThan(40);
	expect(sent.length).toBeLessThan(60);
});

test('An execution that has given up sends creates again after a minute, even if it sends other requests in the meantime', async () => {
	const executions = new Executions((n, at) =>
		at < seconds(10) && n < 1_000 ? failsCreates(n, at) : undefined,
	);
	const execution = {};
	executions.begin(range(300), { execution });
	await executions.clock.pass(seconds(11));
	let soon = 0;
	for (let n = 0; n < 60; n += 10) {
		executions.begin([1_000 + n], { execution, creates: false });
		soon += Number(executions.begin([n], { execution }).sent.length > 0);
		await executions.clock.pass(seconds(10));
	}
	expect(soon).toBe(0);
	const late = executions.begin([0], { execution });
	await executions.end();
	expect(late.done).toHaveLength(1);
});

describe('The time limit of a run', () => {
	test('does not end other calls of the execution', async () => {
		const executions = new Executions(open(() => 400));
		const limits = { concurrency: 1, execution: {} };
		const tool = executions.begin([0], { ...limits, limitMs: 500 });
		// The time limit of the tool ends while one of these requests is in flight and the other one waits.
		const others = executions.begin([1, 2], limits);
		await executions.end();
		expect([tool.done.length, others.done.length]).toEqual([1, 2]);
	});

	test('is kept even if n8n is busy when it ends', async () => {
		// n8n is busy for 200 ms before and after each request, so the timer of the time limit fires late.
		const executions = new Executions(
			open(() => 20),
			400,
		);
		const tool = executions.begin([0, 1], { concurrency: 1, limitMs: 300 });
		await executions.end();
		expect(tool.sent.map(({ n }) => n)).toEqual([0]);
	});

	test('makes a request fail at once if the pause lasts longer', async () => {
		const pauses = rejected(seconds(4));
		const executions = new Executions((_, at) => (at < 10 ? pauses : undefined));
		executions.begin([0]);
		await executions.clock.pass(10);
		const hasty = executions.begin([1], { limitMs: seconds(3) });
		const patient = executions.begin([2], { limitMs: seconds(6) });
		await executions.clock.pass(10);
		expect([hasty.failed.length, patient.failed.length]).toEqual([1, 0]);
		await executions.end();
		expect([hasty.sent.length, patient.done.length]).toEqual([0, 1]);
	});
});
