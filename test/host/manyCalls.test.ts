import type { Host } from '../../host/host';
import { startTestHost, START_TIMEOUT } from './host';
import { manyCalls } from './manyCalls';

/*
 * The calls of a production webhook, an execution with one job each, share one limiter.
 */

let host: Host;
beforeAll(async () => {
	host = await startTestHost('many-calls');
}, START_TIMEOUT);
afterAll(async () => {
	await host.stop();
});

test('where the service takes ten at a time, every call ends, and few jobs are uncertain', async () => {
	const { jobs, answered, errors, slowestPageMs } = await manyCalls(
		host.api,
		host.n8n.url,
		host.sandbox,
	);
	expect(errors.length).toBeLessThanOrEqual(5);
	expect(errors.filter((error) => !/the job may exist/.test(String(error)))).toEqual([]);
	expect(answered).toEqual({ created: 200 - errors.length, failed: errors.length, never: 0 });
	expect(new Set(jobs).size).toBe(200 - errors.length);
	expect(jobs).toHaveLength(200 - errors.length);
	expect(slowestPageMs).toBeLessThan(2_000);
}, 120_000);
