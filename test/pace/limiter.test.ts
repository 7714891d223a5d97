import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { statusFailure } from '../reliability/statusFailure';
import { type BatchOptions, Executions, range } from './executions';
import { atOnce, bucket, byChance, connections, during, open, rejected } from './services';
import { randomNumbers, type Service, silence, windowed } from './services';

/*
 * What the rate limiter makes of services that take only so much, are away or fall silent, in virtual time.
 */

const seconds = (count: number) => count * 1_000;
const lastAt = (events: Array<{ at: number }>) => events.at(-1)?.at ?? Infinity;
const items = (events: Array<{ n: number }>) => events.map(({ n }) => n).sort((a, b) => a - b);
const mayExist = (failed: Array<{ error: Error }>) =>
	failed.filter(({ error }) => 'mayHaveActed' in error && error.mayHaveActed === true).length;

beforeEach(() => jest.spyOn(Math, 'random').mockImplementation(randomNumbers()));
afterEach(() => jest.restoreAllMocks());

const bare503 = statusFailure(503);
const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' } as const;
const quick = open(() => 5);
const failsCreates: Service = (n) => (Number.isNaN(n) ? undefined : bare503);

const batch = (count: number) => [range(count)];
const each = (count: number) => range(count).map((n) => [n]);

/** The most that these executions may cost: seconds, requests that are sent again, jobs that may exist. */
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
	['takes 100 in each second', batch(600), () => windowed(100, 1_000), 7, 40],
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
	['answers each create with a 503', batch(300), () => failsCreates, 8, 0, 12],
])('a service that %s', async (_, batches, service, longest, again = 0, uncertain = 0) => {
	const executions = new Executions(service(), 0.8);
	const all = batches.map((batch) => executions.begin(batch));
	await executions.end();
	const sent = all.flatMap((execution) => execution.sent);
	const failed = all.flatMap((execution) => execution.failed);
	expect(all.flatMap(({ done }) => done).length + failed.length).toBe(batches.flat().length);
	expect(executions.clock.now() - seconds(1)).toBeLessThanOrEqual(seconds(longest));
	expect(sent.length - new Set(sent.map(({ n }) => n)).size).toBeLessThanOrEqual(again);
	expect(mayExist(failed)).toBeLessThanOrEqual(uncertain);
	// Only creates that always fail are given up; else nothing fails but what may exist.
	if (service() !== failsCreates) expect(failed).toHaveLength(mayExist(failed));
});

const once = (failure: Failure): Service => {
	let isFirst = true;
	return (n) => {
		if (n !== 3 || !isFirst) return undefined;
		isFirst = false;
		return failure;
	};
};

test.each<[string, Service, BatchOptions]>([
	['that a limit rejects once', bucket(10, 5), {}],
	['of which one sleeps before it is resent', once(statusFailure(500)), { creates: false }],
	['of which one comes after a health check', once({ kind: 'broken', code: 'ECONNRESET' }), {}],
])('a Concurrency of 1 keeps the order of items %s', async (_, service, options) => {
	const executions = new Executions(service);
	const { sent, mostInFlight } = executions.begin(range(60), {
		concurrency: 1,
		maxRetries: 1,
		...options,
	});
	await executions.end();
	expect(sent.map(({ n }) => n)).toEqual(sent.map(({ n }) => n).sort((a, b) => a - b));
	expect(new Set(items(sent)).size).toBe(60);
	expect(mostInFlight).toBeLessThanOrEqual(1);
});

test('at a Concurrency of 1, an item that is told to wait for a minute lets the others go on', async () => {
	const executions = new Executions((n) => (n === 3 ? rejected(seconds(60)) : undefined));
	const { done } = executions.begin(range(60), { concurrency: 1 });
	await executions.clock.pass(seconds(5));
	expect(done).toHaveLength(59);
	await executions.end();
});

describe('Executions take turns', () => {
	test('a Concurrency that fills the account leaves room for others', async () => {
		const executions = new Executions(open(() => seconds(1)));
		executions.begin(range(200), { concurrency: 40 });
		await executions.clock.pass(100);
		const single = executions.begin([0]);
		await executions.end();
		// As soon as one of the others is answered.
		expect(single.sent[0]?.at).toBeLessThan(seconds(1.1));
	});

	test.each([
		['5 a second', bucket(5, 1), 1],
		['2 a second', bucket(2, 2), 1],
		['20 a second, and Retry-After is 1', bucket(20, 20, rejected(seconds(1))), 2],
	])('a single item soon begins beside a batch at %s', async (_, service, longest) => {
		const executions = new Executions(service);
		const batch = executions.begin(range(150));
		for (let n = 0; n < 8; n += 1) {
			await executions.clock.pass(2_700);
			const begunAt = executions.clock.now() - seconds(1);
			const single = executions.begin([n]);
			await executions.clock.pass(seconds(4));
			expect(single.done).toHaveLength(1);
			expect(Number(single.sent[0]?.at) - begunAt).toBeLessThanOrEqual(seconds(longest));
		}
		await executions.end();
		expect(batch.done).toHaveLength(150);
	});
});

describe('Items that are always rejected', () => {
	test.each<[string, (n: number) => boolean, retryAfter: number | undefined, longest: number]>([
		['15 in a row', (n) => n < 15, 60, 7],
		['one in ten', (n) => n % 10 === 3, 3_600, 12],
		['15 in a row, without Retry-After', (n) => n < 15, undefined, 12],
		['15 in a row, Retry-After 1', (n) => n < 15, 1, 60],
		['all but the last', (n) => n < 199, 60, 7],
	])('%s: do not delay the others', async (_, isRejected, retryAfter, longest) => {
		const failure = rejected(retryAfter && seconds(retryAfter));
		const executions = new Executions((n) => (isRejected(n) ? failure : undefined));
		const execution = executions.begin(range(200));
		await executions.end();
		expect(items(execution.done)).toEqual(range(200).filter((n) => !isRejected(n)));
		expect(lastAt(execution.done)).toBeLessThanOrEqual(seconds(longest));
		expect(execution.failed[0]?.error.message).toBe('The service is receiving too many requests');
		expect(lastAt(execution.failed)).toBeLessThanOrEqual(seconds(400));
	});

	test.each([
		[seconds(60), 12],
		// A Retry-After of up to 5 s stops all requests each time.
		[seconds(1), 70],
	])(
		'do not delay another execution (Retry-After %s), and fail while others pass',
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

test('of a hundred that may start, a few do at a time, and n8n goes on in between', async () => {
	const executions = new Executions(open(() => seconds(1)));
	const { sent } = executions.begin(range(100), { concurrency: 100 });
	await executions.clock.pass(0);
	expect(sent.length).toBeLessThanOrEqual(12);
	await executions.clock.pass(10);
	expect(sent.length).toBeLessThanOrEqual(60);
	await executions.clock.pass(30);
	expect(sent).toHaveLength(100);
	await executions.end();
});

test.each([
	[59, 30],
	[61, 10],
])('after %i minutes, %i requests are in flight at first', async (minutes, atFirst) => {
	const executions = new Executions(open(() => 50));
	executions.begin(range(400));
	await executions.end();
	await executions.clock.pass(seconds(60 * minutes));
	const next = executions.begin(range(400));
	await executions.clock.pass(45);
	if (atFirst === 10) expect(next.mostInFlight).toBe(10);
	else expect(next.mostInFlight).toBeGreaterThanOrEqual(atFirst);
	await executions.end();
});

describe('A service that falls silent', () => {
	test.each([
		[{}, 16],
		[{ concurrency: 1 }, 1],
		[{ concurrency: 100 }, 100],
	])('costs what is in flight, with %j', async (options, most) => {
		let answered = 0;
		const executions = new Executions(() => ((answered += 1) > 20 ? silence : undefined));
		const execution = executions.begin(range(240), options);
		await executions.end();
		expect(mayExist(execution.failed)).toBeLessThanOrEqual(most);
		expect(execution.done).toHaveLength(20);
		expect(lastAt(execution.failed)).toBeLessThan(seconds(90));
		expect(Object(execution.failed.at(-1)?.error)).toMatchObject({
			mayHaveActed: false,
			description: expect.stringMatching(
				/All requests waited \d\d s for the service \(probes: \d+\)/,
			),
		});
	});

	test('ends at once when it is cancelled during a health check', async () => {
		const executions = new Executions((n, at) =>
			Number.isNaN(n) ? { ...silence, after: seconds(10) } : at > 100 ? silence : undefined,
		);
		const execution = executions.begin(range(300));
		await executions.clock.pass(seconds(2));
		expect(execution.healthChecks).toHaveLength(1);
		execution.stop();
		await executions.clock.pass(1);
		expect(execution.isOver).toBe(true);
		await executions.end();
	});
});

test('one slow item among quick ones keeps none waiting', async () => {
	const executions = new Executions((n) =>
		n === 5 ? { ...silence, after: seconds(60) } : undefined,
	);
	const execution = executions.begin(range(3_000));
	await executions.end();
	expect(execution.healthChecks).toEqual([]);
	expect(execution.failed.map(({ n }) => n)).toEqual([5]);
	expect(lastAt(execution.done)).toBeLessThan(seconds(59));
});

test('some items that always get a 500 do not delay the others', async () => {
	const executions = new Executions((n) => (n % 20 === 3 ? statusFailure(500) : undefined));
	const execution = executions.begin(range(1_000));
	await executions.end();
	expect(execution.done).toHaveLength(950);
	expect(lastAt(execution.done)).toBeLessThan(seconds(5));
});

test('while one create goes at a time after an outage, reads go on', async () => {
	const executions = new Executions((n, at) => {
		if (Number.isNaN(n) || n >= 100) return { after: 100 };
		return at < 50 ? { kind: 'broken', code: 'ECONNRESET' } : { after: seconds(1) };
	});
	const creates = executions.begin(range(100));
	const reads = executions.begin(range(130).slice(100), { creates: false });
	await executions.end();
	expect(reads.done).toHaveLength(30);
	expect(lastAt(reads.done)).toBeLessThan(seconds(1));
	expect(creates.sent.filter(({ at }) => at > 60 && at < seconds(1)).length).toBeLessThanOrEqual(1);
});

test.each([
	// It is sent three times.
	[1, 125],
	// Those that sleep fail with those that wait.
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

test('a service that was never there fails all within about two seconds', async () => {
	const executions = new Executions(() => unreachable);
	const { failed } = executions.begin(range(3_000), { maxRetries: 3 });
	await executions.end();
	expect(failed).toHaveLength(3_000);
	expect(lastAt(failed)).toBeLessThan(seconds(2.5));
});

test('a service that answered and is then unreachable for good fails the rest in 60 to 90 s, none of which may exist', async () => {
	let requests = 0;
	const executions = new Executions(() => ((requests += 1) > 20 ? unreachable : undefined));
	const { done, failed } = executions.begin(range(240), { maxRetries: 3 });
	await executions.end();
	expect([done.length, failed.length, mayExist(failed)]).toEqual([20, 220, 0]);
	expect(failed[0]?.at).toBeGreaterThan(seconds(60));
	expect(lastAt(failed)).toBeLessThan(seconds(90));
});

test('after twelve creates in a row without a clear answer, creates fail for a minute without being sent, and then go again', async () => {
	let isBack = false;
	const executions = new Executions((n, at) => (isBack ? undefined : failsCreates(n, at)));
	const { sent } = executions.begin(range(300));
	await executions.end();
	expect(sent).toHaveLength(12);
	isBack = true;
	await executions.clock.pass(seconds(59));
	const early = executions.begin([0]);
	const read = executions.begin([0], { creates: false });
	await executions.end();
	expect([early.sent.length, mayExist(early.failed), read.done.length]).toEqual([0, 0, 1]);
	await executions.clock.pass(seconds(2));
	const late = executions.begin([0]);
	await executions.end();
	expect(late.done).toHaveLength(1);
});

test('an item that alone is always throttled fails after four minutes', async () => {
	const executions = new Executions((n) => (n === 0 ? rejected() : { after: 100 }));
	const { failed, sent } = executions.begin([0]);
	const others = executions.begin(range(4_000).slice(1), { concurrency: 1 });
	await executions.end();
	expect(failed[0]?.at).toBeGreaterThan(seconds(240));
	expect(failed[0]?.at).toBeLessThan(seconds(280));
	// It sleeps longer each time.
	expect(sent.length).toBeLessThan(40);
	expect(others.failed).toEqual([]);
});
