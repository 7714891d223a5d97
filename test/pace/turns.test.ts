import type { Failure } from '../../nodes/JobOrchestration/service/request/failure';
import type {
	Clock,
	News,
	NoTurn,
	Turn,
	Visit,
} from '../../nodes/JobOrchestration/service/pace/turns';
import { Turns, turnsOf } from '../../nodes/JobOrchestration/service/pace/turns';

/** A clock that goes when it is told to. */
class SetClock implements Clock {
	private time = 1_000;
	private timers: Array<{ at: number; ring: () => void }> = [];

	now(): number {
		return this.time;
	}

	idle(): number {
		return this.time;
	}

	async wait(milliseconds: number): Promise<void> {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	}

	/** Lets so many milliseconds pass, and whatever is due happen in them. */
	async pass(milliseconds: number): Promise<void> {
		const end = this.time + milliseconds;
		for (;;) {
			await settled();
			const next = Math.min(...this.timers.map(({ at }) => at));
			if (next > end) break;
			this.time = next;
			const due = this.timers.filter(({ at }) => at <= next);
			this.timers = this.timers.filter(({ at }) => at > next);
			for (const { ring } of due) ring();
		}
		this.time = end;
		await settled();
	}
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

const tooMany: Failure = { kind: 'status', status: 429, text: 'slowly', retryAfter: undefined };
const refused: Failure = { kind: 'unreachable', code: 'ECONNREFUSED' };

let clock: SetClock;
let turns: Turns;
beforeEach(() => {
	clock = new SetClock();
	turns = new Turns(clock);
});

/** Requests of a visit, and what becomes of them: a turn, a refusal, or nothing yet. */
function come(
	visit: Visit,
	count: number,
	stop?: AbortSignal,
	options?: { isAgain: boolean },
): Array<Turn | NoTurn | undefined> {
	const all: Array<Turn | NoTurn | undefined> = new Array<undefined>(count).fill(undefined);
	all.forEach((_, index) => {
		void visit.enter(stop, options).then((turn) => (all[index] = turn));
	});
	return all;
}

const turnAt = (all: Array<Turn | NoTurn | undefined>, index: number): Turn => {
	const turn = all[index];
	if (turn === undefined || 'refused' in turn) throw new Error(`Request ${index} has no turn`);
	return turn;
};
const begun = (all: Array<Turn | NoTurn | undefined>) =>
	all.filter((turn) => turn !== undefined && !('refused' in turn)).length;
const without = (all: Array<Turn | NoTurn | undefined>) =>
	all.filter((turn) => turn !== undefined && 'refused' in turn);

/** A visit that the service has answered. */
async function answered(most?: number, tell?: (news: News) => void): Promise<Visit> {
	const visit = turns.visit(most, tell);
	const first = come(visit, 1);
	await settled();
	turnAt(first, 0).leave({ kind: 'answered' });
	return visit;
}

test('ten begin at first, in their order, whosever they are', async () => {
	const [one, another] = [turns.visit(), turns.visit()];
	const [first, second, third] = [come(one, 6), come(another, 6), come(one, 6)];
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 4, 0]);
	turnAt(first, 0).leave({ kind: 'answered' });
	await settled();
	expect([first, second, third].map(begun)).toEqual([6, 5, 0]);
});

test('a visit never has more under way than it may, and others go by', async () => {
	const narrow = come(turns.visit(2), 5);
	const wide = come(turns.visit(), 5);
	await settled();
	expect([narrow, wide].map(begun)).toEqual([2, 5]);
	turnAt(narrow, 0).leave({ kind: 'done' });
	turnAt(narrow, 0).leave({ kind: 'done' });
	await settled();
	expect(begun(narrow)).toBe(3);
});

test('of a hundred that may begin, a few do at a time, and n8n goes on in between', async () => {
	const all = come(turns.visit(100), 100);
	await settled();
	expect(begun(all)).toBe(16);
	await clock.pass(1);
	expect(begun(all)).toBe(24);
	await clock.pass(1);
	expect(begun(all)).toBe(32);
	await clock.pass(9);
	expect(begun(all)).toBe(100);
});

test("the time of a log-in isn't taken for the service's", async () => {
	const all = come(turns.visit(), 10);
	await settled();
	await clock.pass(1_000);
	all.forEach((_, index) => turnAt(all, index).sent());
	await clock.pass(3);
	all.forEach((_, index) => turnAt(all, index).leave({ kind: 'done' }));
	// After a second each, there would be twenty more.
	expect(turns.pace.limit).toBe(10);
});

test('more may begin, although they wait for others to begin', async () => {
	const all = come(turns.visit(), 100);
	await settled();
	await clock.pass(300);
	all.slice(0, 10).forEach((_, index) => turnAt(all, index).leave({ kind: 'done' }));
	expect(turns.pace.limit).toBe(30);
});

test('a stop ends the waiting of those whom it concerns, at once', async () => {
	const stop = new AbortController();
	const visit = turns.visit();
	const [stopped, other] = [come(visit, 15, stop.signal), come(visit, 1)];
	await settled();
	stop.abort();
	await settled();
	expect(begun(stopped)).toBe(10);
	expect(without(stopped)).toEqual(new Array(5).fill({ refused: 'stopped' }));
	expect(other).toEqual([undefined]);
	expect(await visit.enter(stop.signal)).toEqual({ refused: 'stopped' });
});

describe('When the service says "too many"', () => {
	test('all wait for as long as it says, then one asks, then all go on', async () => {
		const visits = [await answered(), await answered()];
		const all = visits.map((visit) => come(visit, 10));
		await settled();
		const first = all[0] ?? [];
		turnAt(first, 0).leave({ kind: 'tooMany', retryAfter: 5_000 }, tooMany);
		for (let index = 1; index < 10; index += 1) turnAt(first, index).leave({ kind: 'answered' });
		await clock.pass(4_999);
		expect(all.map(begun)).toEqual([10, 0]);
		await clock.pass(1);
		expect(all.map(begun)).toEqual([10, 1]);
		turnAt(all[1] ?? [], 0).leave({ kind: 'answered' });
		await clock.pass(1_000);
		expect(all.map(begun)).toEqual([10, 10]);
	});

	test('those that it has turned away go first, in their order: it may not know the others yet', async () => {
		const visit = await answered();
		const all = come(visit, 12);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			turnAt(all, index).leave({ kind: 'tooMany', retryAfter: undefined }, tooMany);
		}
		const again = come(visit, 10, undefined, { isAgain: true });
		await clock.pass(100);
		expect(again.map((turn) => turn !== undefined)).toEqual([true, ...new Array(9).fill(false)]);
		turnAt(again, 0).leave({ kind: 'done' });
		await clock.pass(30_000);
		expect(begun(again)).toBe(10);
	});

	test('for longer than a minute, nobody waits', async () => {
		const visit = await answered();
		const all = come(visit, 20);
		await settled();
		turnAt(all, 0).leave({ kind: 'tooMany', retryAfter: 61_000 }, tooMany);
		await settled();
		expect(without(all)).toEqual(
			new Array(10).fill({ refused: 'hopeless', failure: tooMany, waited: 0, asked: 0 }),
		);
	});

	test('whoever has less patience is refused sooner, and the others wait on', async () => {
		const [patient, impatient] = [await answered(), turns.visit(undefined, undefined, 5_000)];
		const all = come(patient, 11);
		await settled();
		turnAt(all, 0).leave({ kind: 'tooMany', retryAfter: 20_000 }, tooMany);
		const refused = come(impatient, 1);
		await settled();
		expect(without(refused)).toHaveLength(1);
		await clock.pass(6_000);
		expect(without(all)).toEqual([]);
	});

	test('and lets nothing through for a minute, all who wait fail with its words, and who comes after', async () => {
		const visit = await answered();
		const all = come(visit, 50);
		await settled();
		let asked = 0;
		for (let second = 0; second < 59; second += 1) {
			for (const turn of all) {
				if (turn !== undefined && !('refused' in turn)) {
					turn.leave({ kind: 'tooMany', retryAfter: undefined }, tooMany);
				}
			}
			await clock.pass(1_000);
			asked = begun(all) - 10;
		}
		expect(without(all)).toEqual([]);
		expect(asked).toBeLessThan(20);
		await clock.pass(1_001);
		expect(without(all)).toHaveLength(50 - begun(all));
		expect(without(all)[0]).toMatchObject({ refused: 'hopeless', failure: tooMany });
		expect(await visit.enter()).toMatchObject({ refused: 'hopeless', failure: tooMany });
	});
});

describe('When the service can not be reached', () => {
	test('those it has answered wait together, for a minute', async () => {
		const visit = await answered();
		const all = come(visit, 20);
		await settled();
		for (let index = 0; index < 10; index += 1) {
			turnAt(all, index).leave({ kind: 'unreachable' }, refused);
		}
		await clock.pass(51);
		expect(begun(all)).toBe(11);
		turnAt(all, 10).leave({ kind: 'unreachable' }, refused);
		await clock.pass(59_000);
		expect(without(all)).toEqual([]);
		await clock.pass(1_000);
		// One had just begun to ask.
		expect(without(all)).toHaveLength(8);
	});

	test('whoever meets it for the first time does not wait, and makes nobody wait', async () => {
		const known = await answered();
		const [first] = [come(turns.visit(), 1)];
		await settled();
		turnAt(first, 0).leave({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(1);

		const away = come(known, 1);
		await settled();
		turnAt(away, 0).leave({ kind: 'unreachable' }, refused);
		expect(begun(await afterwards(come(known, 1)))).toBe(0);
		expect(begun(await afterwards(come(turns.visit(), 1)))).toBe(1);
	});

	test('and whoever tried has given up, those fail together whom it never answered', async () => {
		const [visit, other] = [turns.visit(), turns.visit()];
		const [all, others] = [come(visit, 100), come(other, 5)];
		await settled();
		visit.nobodyThere(refused);
		await settled();
		expect(without(all)).toHaveLength(90);
		expect(without(others)).toEqual([]);
		expect(await visit.enter()).toMatchObject({ refused: 'hopeless', failure: refused });
	});
});

/** What becomes of requests, once whatever can happen now has happened. */
async function afterwards<All>(all: All): Promise<All> {
	await settled();
	return all;
}

test('whoever waits for more than a few seconds is told so, once, and when it is over', async () => {
	const told: News[] = [];
	const visit = await answered(Infinity, (news) => told.push(news));
	const all = come(visit, 20);
	await settled();
	turnAt(all, 0).leave({ kind: 'tooMany', retryAfter: 10_000 }, tooMany);
	await clock.pass(2_999);
	expect(told).toEqual([]);
	await clock.pass(5_000);
	expect(told).toEqual([{ kind: 'waiting', why: 'tooMany' }]);
	for (let index = 1; index < 10; index += 1) turnAt(all, index).leave({ kind: 'answered' });
	await clock.pass(2_001);
	turnAt(all, 10).leave({ kind: 'answered' });
	expect(told.slice(1)).toEqual([{ kind: 'goesOn', after: 10_000 }]);
});

describe('The accounts of a process', () => {
	test('have turns of their own, each the same for all who ask', () => {
		expect(turnsOf('a')).toBe(turnsOf('a'));
		expect(turnsOf('a')).not.toBe(turnsOf('b'));
	});

	test('are forgotten, the least recent first, once there are more than a hundred', () => {
		const [kept, forgotten] = [turnsOf('kept'), turnsOf('forgotten')];
		for (let n = 0; n < 99; n += 1) {
			turnsOf(`another ${n}`);
			turnsOf('kept');
		}
		expect(turnsOf('kept')).toBe(kept);
		expect(turnsOf('forgotten')).not.toBe(forgotten);
	});

	test('are not forgotten while a request is under way', async () => {
		const busy = turnsOf('busy');
		const all = come(busy.visit(), 1);
		await settled();
		for (let n = 0; n < 150; n += 1) turnsOf(`one more ${n}`);
		expect(turnsOf('busy')).toBe(busy);
		turnAt(all, 0).leave({ kind: 'answered' });
	});
});
