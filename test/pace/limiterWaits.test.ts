import type { WaitNotice } from '../../nodes/JobOrchestration/service/pace/waitNotices';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import {
	answered,
	begun,
	come,
	permitAt,
	refused,
	SetClock,
	settled,
	tooMany,
	without,
} from './requests';

/*
 * When all requests of an account wait for the service, and for how long.
 */

let clock: SetClock;
let limiter: AccountLimiter;
beforeEach(() => {
	clock = new SetClock();
	limiter = new AccountLimiter(clock);
});

describe('When the service says "too many"', () => {
	test('all wait for as long as it says, then one asks, then all go on', async () => {
		const executions = [await answered(limiter), await answered(limiter)];
		const all = executions.map((execution) => come(execution, 10));
		await settled();
		const first = all[0] ?? [];
		permitAt(first, 0).release({ kind: 'throttled', retryAfter: 5_000 }, tooMany);
		for (let index = 1; index < 10; index += 1)
			permitAt(first, index).release({ kind: 'otherAnswer' });
		await clock.pass(4_999);
		expect(all.map(begun)).toEqual([10, 0]);
		await clock.pass(1);
		expect(all.map(begun)).toEqual([10, 1]);
		permitAt(all[1] ?? [], 0).release({ kind: 'otherAnswer' });
		await clock.pass(1_000);
		expect(all.map(begun)).toEqual([10, 10]);
	});

	test('those that it has turned away go first, in their order: it may not know the others yet', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 12);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			permitAt(all, index).release({ kind: 'throttled', retryAfter: undefined }, tooMany);
		}
		const again = come(execution, 10, undefined, { goesFirst: true });
		await clock.pass(100);
		expect(again.map((permit) => permit !== undefined)).toEqual([
			true,
			...new Array(9).fill(false),
		]);
		permitAt(again, 0).release({ kind: 'done' });
		await clock.pass(30_000);
		expect(begun(again)).toBe(10);
	});

	test('whoever is to wait behind the others does, also behind those who come later', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 1);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 40_000 }, tooMany);
		const again = come(execution, 1, undefined, { wasThrottled: true });
		await clock.pass(1_000);
		const late = come(limiter.forExecution(), 1);
		await clock.pass(39_000);
		expect([begun(again), begun(late)]).toEqual([0, 1]);
		permitAt(late, 0).release({ kind: 'otherAnswer' });
		await clock.pass(1_000);
		expect(begun(again)).toBe(1);
	});

	test('for less than a second, those that it has turned away ask first nevertheless', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 1);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 900 }, tooMany);
		const again = come(execution, 1, undefined, { goesFirst: true, wasThrottled: true });
		const late = come(limiter.forExecution(), 1);
		await clock.pass(900);
		expect([begun(again), begun(late)]).toEqual([1, 0]);
		expect(permitAt(again, 0).isLateProbe).toBe(false);
	});

	test('for a second, others ask first, and know that they ask late', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 1);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 1_000 }, tooMany);
		const again = come(execution, 1, undefined, { goesFirst: true, wasThrottled: true });
		const late = come(limiter.forExecution(), 1);
		await clock.pass(1_000);
		expect([begun(again), begun(late)]).toEqual([0, 1]);
		expect(permitAt(late, 0).isLateProbe).toBe(true);
	});

	test('for a minute, all wait that long, and one asks then', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 20);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 60_000 }, tooMany);
		await clock.pass(59_999);
		expect(begun(all)).toBe(10);
		await clock.pass(1);
		expect(begun(all)).toBe(11);
		expect(without(all)).toEqual([]);
	});

	test.each([66_000, 3_600_000, Infinity])(
		'for %s ms, one asks after a minute',
		async (retryAfter) => {
			const execution = await answered(limiter);
			const all = come(execution, 20);
			await settled();
			permitAt(all, 0).release({ kind: 'throttled', retryAfter }, tooMany);
			await clock.pass(59_999);
			expect(begun(all)).toBe(10);
			await clock.pass(1);
			expect(begun(all)).toBe(11);
			permitAt(all, 10).release({ kind: 'throttled', retryAfter }, tooMany);
			await settled();
			expect(without(all)).toEqual(
				new Array(9).fill({ denied: 'givenUp', failure: tooMany, waited: 60_000, probes: 1 }),
			);
		},
	);

	test('for so long, whoever comes later has not waited', async () => {
		const all = come(await answered(limiter), 20);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 60_000 }, tooMany);
		await clock.pass(60_000);
		permitAt(all, 10).release({ kind: 'throttled', retryAfter: 60_000 }, tooMany);
		await clock.pass(10_000);
		const late = come(limiter.forExecution({ patience: 5_000 }), 1);
		await settled();
		const failure = { ...tooMany, text: undefined, ofOthers: true };
		expect(late).toEqual([{ denied: 'givenUp', failure, waited: 0, probes: 1 }]);
	});

	test('whoever has less patience is refused sooner, and the others wait on', async () => {
		const [patient, impatient] = [
			await answered(limiter),
			limiter.forExecution({ patience: 5_000 }),
		];
		const all = come(patient, 11);
		await settled();
		permitAt(all, 0).release({ kind: 'throttled', retryAfter: 20_000 }, tooMany);
		const refused = come(impatient, 1);
		await settled();
		expect(without(refused)).toHaveLength(1);
		await clock.pass(6_000);
		expect(without(all)).toEqual([]);
	});

	test('and lets nothing through for a minute, all who wait fail with its words, and who comes after', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 50);
		await settled();
		let asked = 0;
		for (let second = 0; second < 69; second += 1) {
			for (const permit of all) {
				if (permit !== undefined && !('denied' in permit)) {
					permit.release({ kind: 'throttled', retryAfter: undefined }, tooMany);
				}
			}
			await clock.pass(1_000);
			asked = begun(all) - 10;
		}
		expect(without(all)).toEqual([]);
		expect(asked).toBeLessThan(20);
		await clock.pass(1_001);
		expect(without(all)).toHaveLength(50 - begun(all));
		expect(without(all)[0]).toMatchObject({ denied: 'givenUp', failure: tooMany });
		expect(await execution.acquire()).toMatchObject({ denied: 'givenUp', failure: tooMany });
	});
});

test('who is turned away is told why, and not in what words others were, nor what another request was answered', async () => {
	const all = come(await answered(limiter), 2);
	await settled();
	permitAt(all, 0).release({ kind: 'throttled', retryAfter: 60_000 }, tooMany);
	permitAt(all, 1).release({ kind: 'otherAnswer' }, { ...tooMany, status: 404 });
	const late = come(limiter.forExecution({ patience: 5_000 }), 1);
	await settled();
	const failure = { ...tooMany, text: undefined, ofOthers: true };
	expect(late).toMatchObject([{ denied: 'givenUp', failure }]);
});

test('a probe that was not sent hands on to the next request, at once', async () => {
	const execution = await answered(limiter);
	const all = come(execution, 13);
	await settled();
	for (let index = 0; index < 10; index += 1) {
		permitAt(all, index).release({ kind: 'throttled', retryAfter: 1_000 }, tooMany);
	}
	await clock.pass(1_000);
	expect(permitAt(all, 10).isProbe).toBe(true);
	permitAt(all, 10).release({ kind: 'nothingSent' });
	await settled();
	expect(permitAt(all, 11).isProbe).toBe(true);
	expect(begun(all)).toBe(12);
});

test('whoever has waited in vain for a service that is away, waits no second time in that execution', async () => {
	const execution = {};
	const first = limiter.forExecution({ execution, patience: 5_000 });
	const [answer] = [come(first, 1)];
	await settled();
	permitAt(answer, 0).release({ kind: 'otherAnswer' });
	const all = come(first, 20);
	await settled();
	for (let index = 0; index < 10; index += 1) {
		permitAt(all, index).release({ kind: 'unreachable' }, refused);
	}
	for (let second = 0; second < 7; second += 1) {
		for (const permit of all) {
			if (permit !== undefined && !('denied' in permit))
				permit.release({ kind: 'unreachable' }, refused);
		}
		await clock.pass(1_000);
	}
	expect(without(all).length + begun(all)).toBe(20);
	expect(without(all).length).toBeGreaterThan(0);
	expect(begun(await afterwards(come(limiter.forExecution({ execution }), 1)))).toBe(1);
});

test('what a service has answered to one run of an execution, holds for the next one', async () => {
	const [execution, other] = [{}, {}];
	const first = limiter.forExecution({ execution });
	const all = come(first, 1);
	await settled();
	permitAt(all, 0).release({ kind: 'otherAnswer' });
	expect(limiter.forExecution({ execution }).hasBeenAnswered).toBe(true);
	expect(limiter.forExecution({ execution: other }).hasBeenAnswered).toBe(false);
	expect(limiter.forExecution().hasBeenAnswered).toBe(false);
});

describe('When the service can not be reached', () => {
	test('those it has answered wait together, for a minute', async () => {
		const execution = await answered(limiter);
		const all = come(execution, 20);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			permitAt(all, index).release({ kind: 'unreachable' }, refused);
		}
		await clock.pass(51);
		expect(begun(all)).toBe(11);
		permitAt(all, 10).release({ kind: 'unreachable' }, refused);
		await clock.pass(69_000);
		expect(without(all)).toEqual([]);
		await clock.pass(1_000);
		// One has just begun to ask.
		expect(without(all)).toEqual([]);
		permitAt(all, 11).release({ kind: 'unreachable' }, refused);
		await settled();
		expect(without(all)).toHaveLength(8);
	});

	test('whoever meets it for the first time does not wait, and makes nobody wait', async () => {
		const known = await answered(limiter);
		const [first] = [come(limiter.forExecution(), 1)];
		await settled();
		permitAt(first, 0).release({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(1);

		const away = come(known, 1);
		await settled();
		permitAt(away, 0).release({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(0);
		expect(begun(await afterwards(come(limiter.forExecution(), 1)))).toBe(1);
	});

	test('and whoever tried has given up, those fail together whom it never answered', async () => {
		const [execution, other] = [limiter.forExecution(), limiter.forExecution()];
		const [all, others] = [come(execution, 100), come(other, 5)];
		await settled();
		execution.giveUp({ kind: 'unreachable' }, refused);
		await settled();
		expect(without(all)).toHaveLength(90);
		expect(without(others)).toEqual([]);
		expect(await execution.acquire()).toMatchObject({ denied: 'givenUp', failure: refused });
	});
});

/** What becomes of requests, once whatever can happen now has happened. */
async function afterwards<All>(all: All): Promise<All> {
	await settled();
	return all;
}

test('whoever waits for more than a few seconds is told so, once, and when it is over', async () => {
	const told: WaitNotice[] = [];
	const execution = await answered(limiter, Infinity, (notice) => told.push(notice));
	const all = come(execution, 20);
	await settled();
	permitAt(all, 0).release({ kind: 'throttled', retryAfter: 10_000 }, tooMany);
	await clock.pass(2_999);
	expect(told).toEqual([]);
	await clock.pass(5_000);
	expect(told).toEqual([{ kind: 'waiting', reason: 'throttled' }]);
	for (let index = 1; index < 10; index += 1) permitAt(all, index).release({ kind: 'otherAnswer' });
	await clock.pass(2_001);
	permitAt(all, 10).release({ kind: 'otherAnswer' });
	expect(told.slice(1)).toEqual([{ kind: 'resumed', after: 10_000 }]);
});
