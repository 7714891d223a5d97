import { Executions, range, rejected } from './executions';
import { bucket, randomFrom } from './simulate';

const always = () => undefined;
const seconds = (count: number) => count * 1_000;
const lastAt = (events: Array<{ at: number }>) => events.at(-1)?.at ?? Infinity;
const items = (events: Array<{ n: number }>) => events.map(({ n }) => n).sort((a, b) => a - b);

beforeEach(() => jest.spyOn(Math, 'random').mockImplementation(randomFrom(1)));
afterEach(() => jest.restoreAllMocks());

/** A service with a rate limit that all items share. */
function limited(perSecond: number, burst: number, retryAfter?: number) {
	const service = bucket(perSecond, burst);
	return (_: number, at: number) =>
		service(at).outcome.kind === 'answered' ? undefined : rejected(retryAfter);
}

test('a Concurrency of 1 keeps the order of items that a limit rejects once', async () => {
	const executions = new Executions(limited(10, 5));
	const { done } = executions.begin(range(60), { concurrency: 1 });
	await executions.end();
	expect(done.map(({ n }) => n)).toEqual(range(60));
});

describe('Executions take turns', () => {
	test('a Concurrency that fills the account leaves room for others', async () => {
		const executions = new Executions(always, seconds(1));
		executions.begin(range(200), { concurrency: 40 });
		await executions.clock.pass(100);
		const single = executions.begin([0]);
		await executions.end();
		expect(single.sent[0]?.at).toBeLessThan(200);
	});

	test.each([
		['5 a second', limited(5, 1), 1],
		['2 a second', limited(2, 2), 1],
		['20 a second, and Retry-After is 1', limited(20, 20, seconds(1)), 2],
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
		const executions = new Executions(always, 50);
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
		['each time for 60 s', seconds(60), 16],
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
	const executions = new Executions(always, seconds(1));
	const { sent } = executions.begin(range(100), { concurrency: 100 });
	await executions.clock.pass(0);
	expect(sent.length).toBeLessThanOrEqual(12);
	await executions.clock.pass(10);
	expect(sent.length).toBeLessThanOrEqual(60);
	await executions.clock.pass(30);
	expect(sent).toHaveLength(100);
	await executions.end();
});
