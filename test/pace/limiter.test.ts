import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { statusFailure } from '../reliability/statusFailure';
import type { BatchOptions } from './executions';
import { Executions, range } from './executions';
import type { Service } from './services';
import { bucket, open, randomFrom, rejected, silence } from './services';

const seconds = (count: number) => count * 1_000;
const lastAt = (events: Array<{ at: number }>) => events.at(-1)?.at ?? Infinity;
const items = (events: Array<{ n: number }>) => events.map(({ n }) => n).sort((a, b) => a - b);

beforeEach(() => jest.spyOn(Math, 'random').mockImplementation(randomFrom(1)));
afterEach(() => jest.restoreAllMocks());

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
	['of which one comes after a question', once({ kind: 'broken', code: 'ECONNRESET' }), {}],
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
		['20 a second, and Retry-After is 1', bucket(20, 20, { failure: rejected(seconds(1)) }), 2],
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

	test('a long batch does not keep others from starting until it is done', async () => {
		const executions = new Executions(open(() => 50));
		const batch = executions.begin(range(2_000));
		await executions.clock.pass(100);
		const others = range(10).map(() => executions.begin(range(5)));
		await executions.end();
		for (const { done } of others) expect(lastAt(done)).toBeLessThan(lastAt(batch.done) / 2);
	});
});

describe('Items that are always rejected', () => {
	test.each([
		['15 of 300 in a row, Retry-After 60', 300, (n: number) => n < 15, seconds(60), 7],
		[
			'20 of 200 evenly spread, Retry-After 3600',
			200,
			(n: number) => n % 10 === 3,
			seconds(3_600),
			12,
		],
		['20 of 200 at the end, Retry-After 60', 200, (n: number) => n >= 180, seconds(60), 12],
		['15 of 300 in a row, without Retry-After', 300, (n: number) => n < 15, undefined, 12],
		['15 of 300 in a row, Retry-After 1', 300, (n: number) => n < 15, seconds(1), 60],
		['all but one, Retry-After 60', 30, (n: number) => n !== 29, seconds(60), 7],
	])('%s: do not delay the others', async (_, count, isRejected, retryAfter, longest) => {
		const executions = new Executions((n) => (isRejected(n) ? rejected(retryAfter) : undefined));
		const execution = executions.begin(range(count));
		await executions.end();
		expect(items(execution.done)).toEqual(range(count).filter((n) => !isRejected(n)));
		expect(lastAt(execution.done)).toBeLessThanOrEqual(seconds(longest));
		expect(execution.failed[0]?.error.message).toBe('The service is receiving too many requests');
		expect(lastAt(execution.failed)).toBeLessThanOrEqual(seconds(400));
	});

	test.each([
		[seconds(60), 12],
		[undefined, 20],
		// A Retry-After of up to 5 s stops all requests each time.
		[seconds(1), 70],
	])(
		'do not delay another execution (Retry-After %s), and fail while others pass',
		async (retryAfter, longest) => {
			const executions = new Executions((n) => (n < 20 ? rejected(retryAfter) : undefined));
			const rejectedOnes = executions.begin(range(20));
			await executions.clock.pass(100);
			const other = executions.begin(range(320).slice(20));
			await executions.clock.pass(seconds(longest));
			expect(other.isOver).toBe(true);
			expect(other.failed).toEqual([]);
			const steady = executions.begin(range(20_000).slice(20), { concurrency: 1 });
			await executions.clock.pass(seconds(360));
			expect(rejectedOnes.failed).toHaveLength(20);
			steady.stop();
			await executions.end();
			expect(steady.failed).toEqual([]);
		},
	);
});

describe('A service that rejects all', () => {
	test.each([
		['each time for 60 s', seconds(60), 20],
		['without Retry-After', undefined, 25],
		['each time for 2 s', seconds(2), 40],
	])('%s, is probed, and recovers', async (_, retryAfter, most) => {
		const executions = new Executions((_n, at) =>
			at < seconds(55) ? rejected(retryAfter) : undefined,
		);
		const execution = executions.begin(range(40));
		await executions.clock.pass(seconds(54));
		// Ten were in flight at first.
		expect(execution.sent.length - 10).toBeLessThanOrEqual(most);
		await executions.end();
		expect(execution.failed).toEqual([]);
		expect(execution.done).toHaveLength(40);
	});
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

const mayExist = ({ failed }: { failed: Array<{ error: Error }> }) =>
	failed.filter(({ error }) => 'mayHaveActed' in error && error.mayHaveActed === true).length;

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
		expect(mayExist(execution)).toBeLessThanOrEqual(most);
		expect(execution.done).toHaveLength(20);
		expect(lastAt(execution.failed)).toBeLessThan(seconds(90));
		expect(Object(execution.failed.at(-1)?.error)).toMatchObject({
			mayHaveActed: false,
			description: expect.stringMatching(
				/All requests waited \d\d s for the service \(probes: \d+\)/,
			),
		});
	});

	test('and answers again after 20 s has all other items, none of them twice', async () => {
		const executions = new Executions((_, at) =>
			at > 100 && at < seconds(20) ? silence : undefined,
		);
		const execution = executions.begin(range(200));
		await executions.end();
		expect(execution.sent).toHaveLength(200);
		expect(mayExist(execution)).toBe(execution.failed.length);
		expect(execution.failed.length).toBeLessThanOrEqual(execution.mostInFlight);
		expect(execution.done).toHaveLength(200 - execution.failed.length);
	});

	test('is sent reads and state changes one at a time, without a question', async () => {
		const executions = new Executions((_, at) =>
			at > 100 && at < seconds(20) ? silence : undefined,
		);
		const execution = executions.begin(range(300), { creates: false });
		await executions.end();
		expect(execution.questions).toEqual([]);
		expect(execution.failed.length).toBeLessThanOrEqual(execution.mostInFlight + 10);
		expect(execution.done).toHaveLength(300 - execution.failed.length);
	});

	test('ends at once when it is cancelled during a question', async () => {
		const executions = new Executions((n, at) =>
			Number.isNaN(n) ? { ...silence, after: seconds(10) } : at > 100 ? silence : undefined,
		);
		const execution = executions.begin(range(300));
		await executions.clock.pass(seconds(2));
		expect(execution.questions).toHaveLength(1);
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
	expect(execution.questions).toEqual([]);
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

test('nothing starts before a Retry-After of up to 5 s is over', async () => {
	const executions = new Executions((_, at) =>
		at < 100 ? undefined : at < 130 ? rejected(seconds(3)) : undefined,
	);
	const { sent, failed } = executions.begin(range(200));
	await executions.end();
	expect(failed).toEqual([]);
	expect(sent.filter(({ at }) => at >= 135 && at < 3_100)).toEqual([]);
});

test('an item that is always told to wait for a minute fails after two, though nothing else is sent', async () => {
	const executions = new Executions(() => rejected(seconds(60)));
	const { sent, failed } = executions.begin([0]);
	await executions.end();
	expect(sent).toHaveLength(3);
	expect(lastAt(failed)).toBeLessThan(seconds(125));
});

test('if the service accepts nothing, those that sleep fail with those that wait', async () => {
	const executions = new Executions(() => rejected(seconds(60)));
	const { failed } = executions.begin(range(300));
	await executions.end();
	expect(failed).toHaveLength(300);
	expect(lastAt(failed)).toBeLessThan(seconds(80));
});

test('a service that was never there fails all within about two seconds', async () => {
	const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' } as const;
	const executions = new Executions(() => unreachable);
	const { failed } = executions.begin(range(3_000), { maxRetries: 3 });
	await executions.end();
	expect(failed).toHaveLength(3_000);
	expect(lastAt(failed)).toBeLessThan(seconds(2.5));
});
