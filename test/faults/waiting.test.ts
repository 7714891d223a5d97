import { getEventListeners } from 'node:events';

import { wait } from '../../nodes/JobOrchestration/service/wait';

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

test('however many wait, they leave no listeners behind, and Node.js sees no leak in them', async () => {
	const stop = new AbortController();
	const listeners = () => getEventListeners(stop.signal, 'abort').length;
	const waiting = Array.from({ length: 50 }, async () => await wait(10, stop.signal));
	expect(listeners()).toBeLessThanOrEqual(10);
	await Promise.all(waiting);
	expect(listeners()).toBeLessThanOrEqual(1);
});
