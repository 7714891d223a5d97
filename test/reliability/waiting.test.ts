import { getEventListeners } from 'node:events';

import type { Fault } from '../../sandbox';
import { wait } from '../../nodes/JobOrchestration/service/request/timers';
import { answer } from '../support/answer';
import { getAll, useSandbox } from '../support/fixture';

const fixture = useSandbox();

test('a wait takes its time', async () => {
	const startedAt = performance.now();
	await wait(40, new AbortController().signal);
	expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
});

test('a wait ends at once with its signal, and does not begin after it', async () => {
	const stop = new AbortController();
	const waiting = Promise.all([wait(60_000, stop.signal), wait(60_000, stop.signal)]);
	stop.abort();
	await waiting;
	await wait(60_000, stop.signal);
});

test('a wait ends with its signal, although another with that signal is over already', async () => {
	const stop = new AbortController();
	const waiting = wait(60_000, stop.signal);
	await wait(1, stop.signal);
	stop.abort();
	await waiting;
});

test('however many wait, they leave no listeners behind, and Node.js sees no leak in them', async () => {
	const stop = new AbortController();
	const listeners = () => getEventListeners(stop.signal, 'abort').length;
	const waiting = Array.from({ length: 50 }, async () => await wait(10, stop.signal));
	expect(listeners()).toBeLessThanOrEqual(10);
	await Promise.all(waiting);
	expect(listeners()).toBeLessThanOrEqual(1);
});

/** A date that is a second away at the least: such a header has no fractions of one. */
const soon = () => new Date(Date.now() + 2_000);

test.each<[string, number, () => Fault]>([
	['a connection that broke', 150, () => ({ kind: 'break', when: 'beforeActing' })],
	['a 500', 150, () => answer(500)],
	['a 429', 50, () => ({ kind: 'rateLimit' })],
	['a 429 with Retry-After in seconds', 1_000, () => ({ kind: 'rateLimit', retryAfter: 1 })],
	['a 429 with Retry-After as a date', 900, () => ({ kind: 'rateLimit', retryAfter: soon() })],
	['a 503 with Retry-After', 1_000, () => answer(503, undefined, { 'retry-after': '1' })],
])('after %s, nothing is sent again within %i ms', async (_, least, fault) => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'listClusters' && nOfOperation === 1 ? fault() : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error).toBeUndefined();
	const [first, second] = fixture.callsOf('listClusters').map(({ at }) => at);
	// The two clocks, that of the timers and that of the sandbox, may differ a little.
	expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(least - 10);
});
