import { readFileSync } from 'node:fs';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { broken, statusFailure, timedOut, unreachable } from '../reliability/statusFailure';
import { ended, type Execution, Executions, lastAt, mayExist, range, seconds } from './executions';
import { answersIn, atOnce, bucket, connections, during, rejected, withChecks } from './services';
import { type Service, silence, useSameRandomNumbers } from './services';

/*
 * The rate limiter follows the rules in docs/architecture.md: each part of a rule is a test, and its title begins
 * with the number of the rule. The tests run in virtual time.
 */

useSameRandomNumbers();

const sentBetween = ({ sent }: Execution, from: number, to: number) =>
	sent.filter(({ at }) => at >= from && at < to);
const allOf = (executions: Execution[], list: 'sent' | 'failed' | 'done') =>
	executions.flatMap((execution) => execution[list]).length;

test('1. Ten requests of all executions are in flight at first, and each response raises this limit by 0.3.', async () => {
	const together = new Executions(answersIn(50));
	const many = range(400).map((n) => together.begin([n]));
	await together.clock.pass(45);
	expect(allOf(many, 'sent')).toBe(10);
	await together.clock.pass(50);
	// Each of the ten responses has raised the limit by 0.3.
	expect(allOf(many, 'sent') - allOf(many, 'done')).toBe(13);
	await together.end();
});

test('1. The limit rises with the responses, but not if they slow down, if n8n is busy, or if requests get no response.', async () => {
	const mostOf = async (service: Service, count: number, workMs = 0) => {
		const executions = new Executions(service, workMs);
		executions.begin(range(count));
		await executions.end();
		await executions.clock.pass(100);
		const next = executions.begin(range(100));
		await executions.clock.pass(15);
		return next.mostInFlight;
	};
	expect(await mostOf(answersIn(50), 600)).toBeGreaterThan(40);
	expect(await mostOf(atOnce(4, 50), 300)).toBeLessThan(30);
	expect(await mostOf(answersIn(1), 1_000, 0.7)).toBeLessThan(6);
	const { mostInFlight } = await ended(connections(20, 50), range(1_000));
	expect(mostInFlight).toBeLessThan(30);
});

test('1. The limit does not fall if a request gets no response while few are in flight.', async () => {
	const executions = new Executions((n) => (n < 20 ? broken : { after: 300 }));
	for (const n of range(20)) {
		executions.begin([n], { creates: false, maxRetries: 1 });
		await executions.clock.pass(seconds(150));
		executions.begin([20], { creates: false });
		await executions.clock.pass(seconds(150));
	}
	const many = executions.begin(range(80).slice(20), { creates: false });
	await executions.clock.pass(100);
	expect(many.sent).toHaveLength(10);
	await executions.end();
});

test('2. A throttled request sets a rate limit of ten per second. It grows, and more slowly after a second failure.', async () => {
	const once = (failure: Failure, ...times: number[]): Service => {
		const due = [...times];
		return (_, at) => {
			if (at < (due[0] ?? Infinity)) return { after: 50 };
			due.shift();
			return { failure, after: 5 };
		};
	};
	const rates = async (service: Service) => {
		const executions = new Executions(service, 0.1);
		const execution = executions.begin(range(3_000));
		await executions.clock.pass(seconds(10));
		execution.stop();
		await executions.end();
		return range(10).map((n) => sentBetween(execution, seconds(n), seconds(n + 1)).length);
	};
	const [free = 0, first = 0, second = 0, third = 0] = await rates(once(rejected(), 1_000));
	expect(free).toBeGreaterThan(500);
	expect(first).toBeGreaterThanOrEqual(10);
	// This includes requests that start before the throttled response arrives.
	expect(first).toBeLessThan(50);
	expect(second).toBeLessThanOrEqual(4 * first);
	expect(third).toBeLessThanOrEqual(4 * second);
	expect(third).toBeGreaterThan(2 * second);
	const again = await rates(once(statusFailure(503), 1_000, 3_500));
	for (const n of [5, 6, 7, 8, 9]) {
		expect(again[n]).toBeLessThan(1.25 * Number(again[n - 1]) + 2);
	}
	expect(again[4]).toBeLessThan(1.25 * Number(again[3]));
});

test('3. In an outage, one request at a time is a probe, after a backoff of up to five seconds. The first success ends it.', async () => {
	const executions = new Executions(during(100, 20_100, statusFailure(502)), 0.1);
	const reads = executions.begin(range(400), { creates: false, maxRetries: 40 });
	await executions.clock.pass(seconds(25));
	const probes = sentBetween(reads, 150, 20_100).map(({ at }) => at);
	const waits = probes.slice(1).map((at, n) => Math.floor((at - Number(probes[n])) / 100));
	expect(waits.length).toBeGreaterThan(5);
	expect(waits).toEqual([...waits].sort((a, b) => a - b));
	expect(Math.max(...waits)).toBe(50);
	expect(lastAt(reads.done)).toBeLessThan(seconds(26));
	await executions.end();
	expect(reads.done).toHaveLength(400);
});

test('3. A single failure delays no request while others are answered.', async () => {
	for (const failure of [silence, statusFailure(500)]) {
		const service: Service = (n) => (n === 50 ? failure : undefined);
		const { done, healthChecks } = await ended(service, range(300));
		expect([done.length, healthChecks.length]).toEqual([299, 0]);
		expect(lastAt(done)).toBeLessThan(seconds(1));
	}
});

test('3. If a service stops responding, only the requests in flight are lost, and one probe.', async () => {
	for (const concurrency of [1, 100]) {
		let answered = 0;
		const silent: Service = () => ((answered += 1) > 20 ? silence : undefined);
		const execution = await ended(silent, range(240), { concurrency });
		// After 45 seconds of health checks, one create is sent as the probe.
		expect(mayExist(execution.failed)).toHaveLength(concurrency + 1);
		expect(execution.done).toHaveLength(20);
	}
});

test('3. After a minute without a response to a probe, another one is sent.', async () => {
	const never = { failure: timedOut, after: seconds(300) };
	const executions = new Executions((n) => (n < 2 ? broken : n < 10 ? never : undefined));
	executions.begin(range(3), { creates: false, concurrency: 1 });
	await executions.clock.pass(seconds(2));
	const others = [false, true].map((creates) => executions.begin([10], { creates }));
	await executions.end();
	for (const { done } of others) expect(lastAt(done)).toBeLessThan(seconds(61));
});

test('4. After four creates as probes without a clear response, an execution sends no more of them for a minute.', async () => {
	const executions = new Executions(withChecks(() => statusFailure(503)));
	const batch = executions.begin(range(300));
	await executions.clock.pass(seconds(10));
	const laterAt = executions.at();
	const later = executions.begin([0]);
	await executions.end();
	expect(mayExist(batch.failed).length).toBeLessThanOrEqual(14);
	expect(batch.failed).toHaveLength(300);
	expect(lastAt(batch.failed)).toBeLessThan(seconds(12));
	expect(batch.failed.at(-1)?.problem).not.toMatchObject({ mayHaveActed: true });
	// The second execution sends its own probe.
	expect(later.sent).toHaveLength(1);
	expect(Number(later.sent[0]?.at) - laterAt).toBeLessThan(seconds(5.1));
	const checks = [...batch.healthChecks, ...later.healthChecks];
	expect(checks.length).toBeGreaterThanOrEqual(5);
});

test('4. Eighty executions of one item each lose at most thirty jobs together.', async () => {
	const each = new Executions(withChecks(() => statusFailure(503)));
	const all = range(80).map((n) => each.begin([n]));
	await each.end();
	expect(all.flatMap(({ failed }) => mayExist(failed)).length).toBeLessThanOrEqual(30);
});

test('4. If only the health checks fail, all creates but those that fail are made, after 45 seconds at most.', async () => {
	for (const [check, latest] of [
		[statusFailure(500), 1],
		[statusFailure(401), 1],
		[statusFailure(302), 1],
		[{ failure: timedOut, after: seconds(10) }, 60],
		[broken, 60],
		[statusFailure(502), 60],
		[rejected(seconds(60)), 1],
	] as const) {
		const failed = { failure: statusFailure(500), after: 30 };
		const service: Service = (n) => (n === 3 || n === 4 ? failed : undefined);
		const half = new Executions(withChecks(service, () => check));
		const first = half.begin(range(22));
		await half.end();
		const second = half.begin(range(27).slice(22));
		await half.end();
		expect([first.done.length, second.done.length]).toEqual([20, 5]);
		expect(lastAt(first.done)).toBeLessThan(seconds(latest));
	}
});

test('4. After one clear response, all executions continue, including the one that has given up.', async () => {
	const mended = new Executions(withChecks(during(0, 8_000, statusFailure(503))));
	const loop = {};
	mended.begin(range(300), { execution: loop });
	await mended.clock.pass(seconds(8));
	const given = mended.begin([0], { execution: loop });
	const other = mended.begin([0]);
	await mended.clock.pass(seconds(6));
	const after = mended.begin([0], { execution: loop });
	await mended.end();
	expect([given, other, after].map(({ sent }) => sent.length)).toEqual([0, 1, 1]);
});

test('4. An execution that has given up sends requests again after a minute, also if one of another execution fails.', async () => {
	const service: Service = (n) => (n < 100 ? statusFailure(500) : n === 100 ? broken : undefined);
	const executions = new Executions(withChecks(service));
	const loop = {};
	executions.begin(range(30), { execution: loop });
	await executions.clock.pass(seconds(300));
	executions.begin(range(300).slice(100), { creates: false });
	await executions.clock.pass(100);
	const later = executions.begin(range(320).slice(300), { execution: loop });
	await executions.end();
	expect(later.done).toHaveLength(20);
});

test('5. At a Concurrency of 1, requests keep their order while they sleep for up to a second.', async () => {
	// limiter.test.ts has items that are always throttled.
	const inOrder: Array<[Service, boolean]> = [
		[bucket(10, 5), true],
		[during(100, 130, statusFailure(502)), false],
		[during(100, 120, broken), true],
	];
	for (const [service, creates] of inOrder) {
		const { sent } = await ended(service, range(60), { concurrency: 1, maxRetries: 1, creates });
		const order = sent.map(({ n }) => n);
		expect(order).toEqual([...order].sort((a, b) => a - b));
		expect(new Set(order).size).toBe(60);
	}
});

test('5. At a Concurrency of 1, the first probe is the next request, and later ones are random.', async () => {
	// Items 10 and 11 fail, 12 is the first probe, and the second one is random.
	const away: Service = (n) => (n >= 10 ? statusFailure(500) : undefined);
	const { sent: probes } = await ended(away, range(60), { concurrency: 1, creates: false });
	expect(probes.slice(0, 13).map(({ n }) => n)).toEqual(range(13));
	expect(probes[13]?.n).not.toBe(13);
});

test('5. Requests that were never throttled come before one that waits for a long Retry-After.', async () => {
	const later = new Executions((n) => (n === 3 ? rejected(seconds(60)) : undefined));
	const others = later.begin(range(60), { concurrency: 1 });
	await later.clock.pass(seconds(5));
	expect(others.done).toHaveLength(59);
	await later.end();
});

test('6. A request that is throttled while others are answered delays no other, and fails after four minutes.', async () => {
	const executions = new Executions((n) => (n === 0 ? rejected() : { after: 100 }));
	const alone = executions.begin([0]);
	const others = executions.begin(range(4_000).slice(1), { concurrency: 1 });
	await executions.end();
	expect(others.failed).toEqual([]);
	expect(alone.failed[0]?.at).toBeGreaterThan(seconds(240));
	expect(alone.failed[0]?.at).toBeLessThan(seconds(280));
	const waits = alone.sent.slice(1).map(({ at }, n) => at - Number(alone.sent[n]?.at));
	expect(Math.min(...waits)).toBeGreaterThanOrEqual(150);
	expect(waits.length).toBeLessThan(25);
	expect(lastAt(others.done)).toBeLessThan(seconds(410));
});

test('7. A Retry-After stops all requests up to 5 s, beyond that only its own, and fails it beyond its patience.', async () => {
	const waitsFor = async (failure: Failure) => {
		const executions = new Executions((n) => (n === 5 ? failure : undefined));
		const { sent, failed, done } = executions.begin(range(100), { concurrency: 10 });
		await executions.clock.pass(seconds(1));
		const soon = sent.length;
		await executions.clock.pass(seconds(200));
		const before = [...new Set(sent.map(({ at }) => at))].sort((a, b) => a - b);
		const longest = Math.max(...before.slice(1).map((at, n) => at - Number(before[n])));
		const result = { soon, longest, failedAt: failed[0]?.at, done: done.length };
		await executions.end();
		return result;
	};
	const short = await waitsFor(rejected(seconds(4)));
	expect(short.soon).toBeLessThan(20);
	expect(short.longest).toBeGreaterThanOrEqual(seconds(3.9));
	const long = await waitsFor(rejected(seconds(50)));
	expect(long.soon).toBeGreaterThan(99);
	const tooLong = await waitsFor(rejected(seconds(80)));
	expect(tooLong.failedAt).toBeLessThan(seconds(1));
});

test('7. The Retry-After of a health check stops all requests up to 5 s, beyond that none.', async () => {
	const service: Service = (n, at) => (n < 20 && at < 2_000 ? statusFailure(500) : undefined);
	const short = new Executions(withChecks(service, () => rejected(seconds(4))));
	const { sent, healthChecks } = short.begin(range(20));
	await short.end();
	const checkedAt = Number(healthChecks[0]?.at);
	expect(sent.filter(({ at }) => at > checkedAt && at < checkedAt + seconds(4))).toEqual([]);

	const executions = new Executions(withChecks(service, () => rejected(seconds(40))));
	executions.begin(range(20));
	await executions.clock.pass(seconds(1));
	const others = executions.begin([20, 21], { creates: false });
	await executions.clock.pass(seconds(5));
	expect(others.done).toHaveLength(2);
	await executions.end();
});

test('7. For the Retry-After of a login, all requests wait, or fail at once.', async () => {
	const login = (retryAfter: number) =>
		({ ...rejected(retryAfter), ofLogin: true, isAboutAllItems: true }) as const;
	let isFirst = true;
	const waits = new Executions((_, at) => {
		if (!isFirst && at < 40) return { failure: login(seconds(50)), after: 5 };
		isFirst = false;
		return { failure: at < 40 ? login(seconds(50)) : undefined, after: 5 };
	});
	const batch = waits.begin(range(100));
	await waits.end();
	expect(batch.done).toHaveLength(100);
	expect(sentBetween(batch, 40, seconds(50))).toEqual([]);
	const never = new Executions(() => login(seconds(100)));
	const first = never.begin(range(100));
	await never.clock.pass(seconds(10));
	const second = never.begin([0], { creates: false });
	await never.clock.pass(seconds(1));
	expect([first.failed.length, second.failed.length, second.sent.length]).toEqual([100, 1, 0]);
	expect(second.failed[0]?.problem).not.toMatchObject({ mayHaveActed: true });
});

test('8. In an outage, requests fail after about 70 seconds, also in the editor if the service has answered before.', async () => {
	let requests = 0;
	const gone = new Executions(() => ((requests += 1) > 20 ? unreachable : undefined));
	const batch = gone.begin(range(240), { maxRetries: 3 });
	await gone.end();
	expect([batch.done.length, batch.failed.length, mayExist(batch.failed).length]).toEqual([
		20, 220, 0,
	]);
	expect(batch.failed[0]?.at).toBeGreaterThan(seconds(60));
	expect(lastAt(batch.failed)).toBeLessThan(seconds(90));
	expect(batch.failed.at(-1)?.problem.facts.join()).toMatch(
		/All requests have waited \d\d s .* \d+ more attempts failed\./,
	);
	// The service has answered the account, so the next execution waits, too. Once the outage is forgotten, it
	// begins again.
	for (const [idleMs, waitsMs] of [
		[0, seconds(65)],
		[seconds(61), seconds(65)],
		[seconds(3_601), 0],
	] as const) {
		await gone.clock.pass(idleMs);
		const at = gone.at();
		const next = gone.begin([0], { maxRetries: 3, isInEditor: true });
		await gone.end();
		expect(lastAt(next.failed) - at).toBeGreaterThanOrEqual(waitsMs);
		expect(lastAt(next.failed) - at).toBeLessThan(waitsMs + seconds(15));
	}
});

test('8. The time since an earlier outage does not count.', async () => {
	const executions = new Executions((n, at) =>
		at < 500 || n === 100 ? statusFailure(500) : undefined,
	);
	const loop = {};
	executions.begin(range(20), { creates: false, execution: loop, maxRetries: 5 });
	await executions.clock.pass(seconds(600));
	executions.begin([20], { creates: false });
	await executions.clock.pass(seconds(1));
	const creates = executions.begin(range(150).slice(100), { execution: loop });
	await executions.end();
	expect(creates.done).toHaveLength(49);
});

test('8. In an outage of creates, they fail after about 70 seconds, even if lists are answered meanwhile.', async () => {
	const executions = new Executions((n) => (n < 100 ? statusFailure(500) : undefined));
	const all = range(100).map((n) => executions.begin([n]));
	for (let second = 0; second < 90; second += 1) {
		executions.begin([100], { creates: false });
		await executions.clock.pass(seconds(1));
	}
	expect(allOf(all, 'failed')).toBe(100);
	expect(all.flatMap(({ failed }) => mayExist(failed)).length).toBeLessThan(30);
	await executions.end();
});

test('8. A request that sleeps for its own Retry-After fails with the others.', async () => {
	const asleep = await ended(() => rejected(seconds(60)), range(300));
	expect(asleep.failed).toHaveLength(300);
	expect(lastAt(asleep.failed)).toBeLessThan(seconds(90));
});

test('8. In the editor, requests to a service that was never reached fail after Max Request Retries probes.', async () => {
	const neverThere = new Executions(() => unreachable);
	const [patient, hasty, none] = [5, 3, 0].map((maxRetries) =>
		neverThere.begin(range(1_000), { maxRetries, isInEditor: true }),
	);
	const nightly = neverThere.begin([0]);
	await neverThere.end();
	const ends = [none, hasty, patient].map((execution) => lastAt(execution?.failed ?? []));
	expect(ends[0]).toBeLessThan(100);
	expect(ends[1]).toBeGreaterThan(seconds(1.5));
	expect(ends[1]).toBeLessThan(seconds(2.5));
	expect(ends[2]).toBeGreaterThan(seconds(6));
	expect(ends[2]).toBeLessThan(seconds(12));
	expect(lastAt(nightly.failed)).toBeGreaterThan(seconds(65));
	expect(lastAt(nightly.failed)).toBeLessThan(seconds(80));
});

test('8. What was learnt is kept for an hour after the last request of the account.', async () => {
	const executions = new Executions(answersIn(50));
	executions.begin(range(400));
	await executions.end();
	await executions.clock.pass(seconds(3_540));
	const next = executions.begin(range(400));
	await executions.clock.pass(45);
	expect(next.mostInFlight).toBeGreaterThanOrEqual(30);
	await executions.end();
});

test('9. Four requests start in a turn. A Concurrency is never exceeded, nor a hundred in all. A cancel ends each wait.', async () => {
	const executions = new Executions(answersIn(seconds(1)));
	const batch = executions.begin(range(400), { concurrency: 40 });
	await executions.clock.pass(0);
	expect(batch.sent.length).toBeLessThanOrEqual(4);
	await executions.clock.pass(100);
	expect(batch.sent).toHaveLength(40);
	const own = executions.begin(range(400));
	const single = executions.begin([0]);
	const other = executions.begin(range(60), { concurrency: 60 });
	await executions.clock.pass(100);
	// Ten requests of the executions without a Concurrency are in flight, and a hundred in all.
	expect([own, single, other].map(({ sent }) => sent.length)).toEqual([9, 1, 50]);
	for (const execution of [batch, own, other]) execution.stop();
	await executions.clock.pass(seconds(1.1));
	expect([batch, own, other].every(({ isOver }) => isOver)).toBe(true);
	expect(batch.mostInFlight).toBe(40);
});

test("9. Executions take turns, so one that begins later doesn't wait for the others.", async () => {
	const slow = new Executions(bucket(5, 1));
	const first = slow.begin(range(150));
	await slow.clock.pass(seconds(3));
	const begunAt = slow.at();
	const second = slow.begin([0]);
	await slow.clock.pass(seconds(4));
	expect(Number(second.sent[0]?.at) - begunAt).toBeLessThan(seconds(1));
	expect(second.done).toHaveLength(1);
	first.stop();
	await slow.clock.pass(10);
	expect(first.isOver).toBe(true);
});

test('each rule in docs/architecture.md is proven, and each part belongs to one of at most nine', () => {
	const text = readFileSync('docs/architecture.md', 'utf8');
	const section = /^### The rate limiter$(.*?)^##/ms.exec(text)?.[1] ?? '';
	const told = [...section.matchAll(/^\d+\. /gm)].map(([number]) => number);
	const proven = readFileSync(__filename, 'utf8').matchAll(/^test\(['"](\d\. )/gm);
	expect([...new Set([...proven].map(([, number]) => number))]).toEqual(told);
	expect(told.length).toBeLessThanOrEqual(9);
});
