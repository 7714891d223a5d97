import { waitFor } from '../../host/wait';
import { hasEnded, useHost } from './host';
import { customers, example, fillIn } from './workflows';

/*
 * n8n is off at the moment when a wait ends. As soon as it starts, it resumes such executions: before its data
 * tables are there.
 */

const file = 'continue-when-all-done.json';

const host = useHost('restarts');

test('n8n is off when the wait for a job and the wait for all jobs end: the batch continues once', async () => {
	await fillIn(host, file, {
		'Jobs to create': customers(['Alder', 'Birch']),
		// Birch's job doesn't call within its minute.
		'Create job': {
			inputsJson: "={{ [{ id: 'seconds', default: $json.customer === 'Birch' ? '3600' : '0' }] }}",
			options: { waitUntilCalled: 'callbackUrl', waitLimit: 1 },
		},
	});
	const { id } = example(host, file);
	const parent = await host.api.run(id, 'Run by hand');
	const statuses = async () => {
		const executions = await host.api.executions(id);
		return executions.map(({ id: each, status }) => (each === parent ? 'all' : 'one') + status);
	};
	const wanted = ['allwaiting', 'onesuccess', 'onewaiting'];
	await waitFor(async () => (await statuses()).sort().join() === wanted.join() || undefined, {
		timeout: 40_000,
	});
	expect((await statuses()).sort()).toEqual(wanted);
	await host.n8n.stop();
	const stoppedAt = Date.now();
	// Both waits began before n8n was stopped, and end a minute and 70 seconds later.
	await waitFor(() => Date.now() > stoppedAt + 71_000 || undefined, { timeout: 80_000 });
	await host.restart();

	const ended = await waitFor(
		async () => (await host.api.executions(id)).every(hasEnded) || undefined,
		{ timeout: 240_000 },
	);
	expect(ended).toBe(true);
	const { output, error } = await host.api.executionResult(parent);
	expect(error).toBeUndefined();
	expect((await host.api.executions(id)).map(({ status }) => status)).toEqual(
		Array(3).fill('success'),
	);
	expect(output['Go on from here']).toEqual([
		expect.objectContaining({ customer: 'Alder', state: 'done' }),
		expect.objectContaining({ customer: 'Birch', state: 'no call', jobId: expect.any(String) }),
	]);
}, 420_000);
