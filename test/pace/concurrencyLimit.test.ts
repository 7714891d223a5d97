import { ConcurrencyLimit } from '../../nodes/JobOrchestration/service/pace/concurrencyLimit';

test.each([
	['lets hardly more begin, where this process was busy for most of the time', 14, 10.5],
	['lets more begin, where it was idle for a while', 16, 12],
])('an answer %s', (_, idle, limit) => {
	const concurrency = new ConcurrencyLimit();
	const answer = { number: 1, load: 10, duration: 100, idle };
	concurrency.ended(answer, { now: 100, next: 11, isFull: true });
	expect(concurrency.limit).toBe(limit);
});
