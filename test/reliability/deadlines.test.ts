import { onDeadline } from '../../nodes/JobOrchestration/service/request/timers';

/*
 * Deadlines are shared, so they are kept in a map for as long as the process runs. It is looked at by what is put in.
 */

afterEach(() => {
	jest.restoreAllMocks();
});

test('deadlines that are over are forgotten, however many there were', () => {
	const set = jest.spyOn(Map.prototype, 'set');
	const clock = jest.spyOn(performance, 'now');
	for (let second = 0; second < 100; second += 1) {
		clock.mockReturnValue(1e9 + second * 1_000);
		onDeadline(500, () => {})();
	}
	expect(set).toHaveBeenCalledTimes(100);
	const kept = set.mock.contexts.map((map) => (map as Map<unknown, unknown>).size);
	expect(new Set(kept)).toEqual(new Set([1]));
});
