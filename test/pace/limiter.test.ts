import { failureOf } from '../../nodes/JobOrchestration/service/errors/failure';
import { broken, statusFailure, unreachable } from '../reliability/statusFailure';
import { ended, Executions, lastAt, mayExist, range, seconds } from './executions';
import { answersIn, bucket, connections, during, rejected, withChecks } from './services';
import { type Service, useSameRandomNumbers, windowed } from './services';

/*
 * All items end within a certain time and with few repeated requests, even if a service is limited, overloaded or
 * unavailable. The tests run in virtual time.
 */

useSameRandomNumbers();

const items = (events: Array<{ n: number }>) => events.map(({ n }) => n).sort((a, b) => a - b);
const bare503 = statusFailure(503);
const quick = answersIn(5);

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
	['takes 2 a second', batch(40), () => bucket(2, 2), 24, 80],
	['takes 60 in each minute, and says so', batch(240), () => windowed(60, 60_000, true), 195, 90],
	['answers a bare 503 above its limit', batch(600), () => bucket(100, 100, bare503), 7, 0, 11],
	['answers in 50 ms, without a limit', batch(1_000), () => answersIn(50), 1.5],
	['is away for 8 s', batch(600), () => during(300, 8_300, unreachable, quick), 14, 30],
	['rejects all for 30 s', batch(600), () => during(300, 30_300, rejected(), quick), 37, 30],
	['says Retry-After 60', batch(40), () => during(0, 55_000, rejected(60_000), quick), 125, 30],
	['breaks all but 20 connections', batch(600), () => connections(20, 50), 3, 0, 10],
	['takes ten executions of one at once', each(80), () => connections(10, 300, bare503), 4, 0, 5],
])(
	'All items end within their limits at a service that %s',
	async (_, batches, service, longest, again = 0, uncertain = 0) => {
		const executions = new Executions(service(), 0.8);
		const all = batches.map((batch) => executions.begin(batch));
		await executions.end();
		const sent = all.flatMap((execution) => execution.sent);
		const failed = all.flatMap((execution) => execution.failed);
		expect(all.flatMap(({ done }) => done).length + failed.length).toBe(batches.flat().length);
		expect(executions.at()).toBeLessThanOrEqual(seconds(longest));
		expect(sent.length - new Set(sent.map(({ n }) => n)).size).toBeLessThanOrEqual(again);
		expect(mayExist(failed).length).toBeLessThanOrEqual(uncertain);
		// An item fails only if its job may exist.
		expect(failed).toEqual(mayExist(failed));
	},
);

describe('Items that are always rejected', () => {
	test.each<[string, (n: number) => boolean, retryAfter: number | undefined, longest: number]>([
		['15 in a row', (n) => n < 15, 60, 7],
		['one in ten', (n) => n % 10 === 3, 3_600, 12],
		['15 in a row, Retry-After 1', (n) => n < 15, 1, 60],
		['all but the last fifty', (n) => n < 150, undefined, 500],
	])('do not delay the others: %s', async (_, isRejected, retryAfter, longest) => {
		const failure = rejected(retryAfter && seconds(retryAfter));
		const execution = await ended((n) => (isRejected(n) ? failure : undefined), range(200));
		expect(items(execution.done)).toEqual(range(200).filter((n) => !isRejected(n)));
		expect(lastAt(execution.done)).toBeLessThanOrEqual(seconds(longest));
		expect(execution.failed[0]?.problem).toMatchObject({ httpStatus: failure.httpStatus });
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

test('At a Concurrency of 1, every execution ends, even if a request fails while it keeps its place', async () => {
	const executions = new Executions(() => unreachable);
	const limits = { concurrency: 1, execution: {} };
	const hasty = executions.begin([0], { ...limits, maxRetries: 0 });
	const patient = executions.begin(range(5), { ...limits, maxRetries: 5 });
	await executions.end();
	expect([hasty.failed.length, patient.failed.length]).toEqual([1, 5]);
});

const firstTwoFail: Service = (n) => (n < 2 ? statusFailure(500) : undefined);

describe('At a Concurrency of 1, no item waits for a request whose health check', () => {
	/** Two creates fail, and the first health check ends in this way. */
	const withFirstCheck = (end: ReturnType<Service>) => {
		let checks = 0;
		return new Executions(withChecks(firstTwoFail, () => (checks++ === 0 ? end : undefined)));
	};

	test("can't be sent", async () => {
		const ofLogin = failureOf({ title: 'refused', advice: '', ofLogin: true, httpStatus: 403 });
		const executions = withFirstCheck(ofLogin);
		const execution = executions.begin(range(6), { concurrency: 1 });
		await executions.end();
		expect(items(execution.failed)).toEqual([0, 1, 2]);
		expect(items(execution.done)).toEqual([3, 4, 5]);
	});

	test('was stopped, which ends the wait for it at once', async () => {
		const executions = withFirstCheck({ after: seconds(5) });
		const limits = { concurrency: 1, execution: {} };
		const stopped = executions.begin(range(6), limits);
		await executions.clock.pass(seconds(2));
		expect(stopped.healthChecks).toHaveLength(1);
		stopped.stop();
		await executions.clock.pass(1);
		expect(stopped.isOver).toBe(true);
		const next = executions.begin([10, 11], limits);
		await executions.end();
		expect(items(next.done)).toEqual([10, 11]);
	});
});

test.each([
	[4, 10],
	[30, 2],
	[3_600, 1],
])(
	'No health check is sent before the Retry-After of the one before, %s s, is over',
	async (retryAfter, most) => {
		const service = withChecks(firstTwoFail, () => rejected(seconds(retryAfter)));
		const { healthChecks, done } = await ended(service, range(6), { concurrency: 1 });
		const waits = healthChecks
			.slice(1)
			.map(({ at }, index) => at - (healthChecks[index]?.at ?? at));
		expect(Math.min(...waits)).toBeGreaterThanOrEqual(seconds(retryAfter));
		expect(healthChecks.length).toBeLessThanOrEqual(most);
		expect(items(done)).toEqual([2, 3, 4, 5]);
	},
);

test('While health checks are answered and creates are throttled, the probes become fewer', async () => {
	const service = withChecks(during(0, 20, broken, () => rejected()));
	const { sent, healthChecks } = await ended(service, range(500));
	expect(healthChecks.length).toBeLessThan(40);
	expect(sent.length).toBeLessThan(60);
});

test('An execution that has given up sends creates again after a minute, even if it sends other requests in the meantime', async () => {
	const executions = new Executions((n, at) =>
		at < seconds(10) && n < 1_000 ? bare503 : undefined,
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

test('The time limit of a run is kept even if n8n is busy when it ends', async () => {
	// n8n is busy for 200 ms before and after each request, so the timer of the time limit fires late.
	const executions = new Executions(answersIn(20), 400);
	const tool = executions.begin([0, 1], { concurrency: 1, limitMs: 300 });
	await executions.end();
	expect(tool.sent.map(({ n }) => n)).toEqual([0]);
});

test('n8n gets a turn while thousands of requests fail that have no connection', async () => {
	const executions = new Executions(() => unreachable);
	const { failed } = executions.begin(range(10_000), { maxRetries: 3 });
	let failedBefore = 0;
	let mostInTurn = 0;
	let turning: NodeJS.Immediate;
	const turn = () => {
		mostInTurn = Math.max(mostInTurn, failed.length - failedBefore);
		failedBefore = failed.length;
		turning = setImmediate(turn);
	};
	turn();
	await executions.end().finally(() => clearImmediate(turning));
	expect(failed).toHaveLength(10_000);
	expect(mostInTurn).toBeLessThan(3_000);
});
