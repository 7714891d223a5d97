import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Outcome } from '../../nodes/JobOrchestration/service/pace/pace';
import { batches } from './services';
import type { SimulatedService } from './simulate';
import { always, away, limited, randomFrom, serving, simulate, spread } from './simulate';

/*
 * How the pace goes at each service, step by step, is written down in trace.txt. What it must keep to, pace.test.ts
 * says; whoever changes the arithmetic sees here which services that concerns, and how.
 * WRITE_TRACE=1 npx jest test/pace/trace.test.ts writes it; then read the difference.
 */

const mayWrite = process.env.WRITE_TRACE === '1' && process.env.CI === undefined;

/** In how many steps a batch is looked at. */
const STEPS = 20;

/** One service until some time, and another from then on. */
function changing(before: SimulatedService, at: number, after: SimulatedService): SimulatedService {
	return (now) => (now < at ? before(now) : after(now));
}

/** Every n-th request ends so. */
function everyNth(n: number, outcome: Outcome, service: SimulatedService): SimulatedService {
	let count = 0;
	return (now) => ((count += 1) % n === 0 ? { outcome, at: now + 5 } : service(now));
}

const quick = () => serving(1_000, always(20));
const tooMany: Outcome = { kind: 'throttled', retryAfter: undefined };

/** Services that become others, fail now and then, or turn requests away by chance. */
const others: Array<[name: string, items: number, service: SimulatedService, own?: number]> = [
	['50 ms, then four at once', 2_000, changing(quick(), 500, serving(4, always(50)))],
	['four at once, then 20 ms', 4_000, changing(serving(4, always(50)), 5_000, quick())],
	['20 ms, then 200 ms', 4_000, changing(quick(), 1_000, serving(1_000, always(200)))],
	['200 ms, then 20 ms', 8_000, changing(serving(1_000, always(200)), 4_000, quick())],
	['20 ms, then ten a second', 600, changing(quick(), 60, limited(10))],
	['ten a second, then 100 a second', 3_000, changing(limited(10), 10_000, limited(100))],
	['100 a second, then ten', 600, changing(limited(100), 3_000, limited(10))],
	['100 a second, then no limit', 20_000, changing(limited(100), 5_000, quick())],
	['away for 8 s', 1_000, away(quick(), 200, 8_200)],
	['every 10th is turned away', 1_000, everyNth(10, tooMany, quick())],
	['every 50th is turned away', 2_000, everyNth(50, tooMany, quick())],
	['every 100th breaks', 2_000, everyNth(100, { kind: 'broken' }, quick())],
	['every 100th is not answered in time', 2_000, everyNth(100, { kind: 'timedOut' }, quick())],
	['every 20th is a bare 503', 1_000, everyNth(20, { kind: 'unavailable' }, quick())],
	['every 100th log-in fails', 1_000, everyNth(100, { kind: 'loginFailed' }, quick())],
	['0 ms, with 0.7 ms of our own for each', 2_000, serving(1_000, always(1)), 0.7],
	['50 ms, with 0.7 ms of our own for each', 3_000, serving(1_000, always(50)), 0.7],
	['20 at once, 20 ms more or less', 3_000, serving(20, spread(20, randomFrom(7))), 0.2],
];

/** A number as short as it can be read. */
const short = (value: number) => (value === Infinity ? '–' : String(Number(value.toPrecision(3))));

/** What a batch comes to, and in equal steps how many are let in at once, and how many a second. */
function trace(name: string, items: number, service: SimulatedService, own?: number): string {
	const seen: string[] = [];
	let begun = 0;
	const run = simulate(items, service, {
		...(own !== undefined && { own }),
		each: ({ now, kind, pace }) => {
			if (kind !== 'begin') return;
			begun += 1;
			if (begun % Math.ceil(items / STEPS) !== 0) return;
			const rate = pace.rate(now);
			seen.push(
				`${short(now / 1_000)}s ${pace.limit}${rate === Infinity ? '' : `/${short(rate)}`}`,
			);
		},
	});
	const { time, done, turnedAway, unreached, uncertain, most, average } = run;
	const ends = Object.entries({ done, turnedAway, unreached, uncertain })
		.filter(([, count]) => count > 0)
		.map(([what, count]) => `${what} ${count}`);
	return [
		name,
		`  ${short(time / 1_000)} s, ${ends.join(', ')}; most ${most}, average ${short(average)}`,
		`  ${seen.join('  ')}`,
	].join('\n');
}

test('the pace goes at each service as trace.txt says: at once, and a second where it keeps to a rate', () => {
	const traces = [
		...batches.map(({ name, items, service }) => trace(name, items, service(1))),
		...others.map((other) => trace(...other)),
	];
	const text = `${traces.join('\n\n')}\n`;
	const path = join(__dirname, 'trace.txt');
	if (mayWrite) writeFileSync(path, text);
	expect(text).toBe(readFileSync(path, 'utf8'));
});
