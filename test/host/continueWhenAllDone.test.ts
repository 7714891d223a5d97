import { waitFor } from '../../host/wait';
import { hasEnded, useHost } from './host';
import { customers, example, fillIn } from './workflows';

/* The example that continues once all jobs are done, in a real n8n whose jobs call in the same moment. */

const file = 'continue-when-all-done.json';
const COUNT = 50;

const host = useHost('all');

const names = Array.from({ length: COUNT }, (_, n) => `Customer ${n}`);

/** Three are refused, five never call, all others call in the same moment. */
const isRefused = (customer: string) => /\b[0-2]$/.test(customer);
const neverCalls = (customer: string) => /\b[3-7]$/.test(customer);

const results = names.map((customer) => {
	const displayName = `Report for ${customer}`;
	const jobId = expect.any(String);
	if (isRefused(customer)) {
		const result = { message: expect.stringContaining('refused to create the job') };
		return { customer, state: 'not created', jobId: null, result };
	}
	if (neverCalls(customer)) return { customer, state: 'no call', jobId, result: null };
	const outputs = { report: `report of ${displayName}` };
	const result = { jobId, displayName, state: 'succeeded', outputs };
	return { customer, state: 'done', jobId, result };
});

test('fifty jobs, of which some fail, and n8n is killed: it continues once, with the result of each', async () => {
	const callAt = Date.now() + 40_000;
	await fillIn(host, file, {
		'Jobs to create': customers(names),
		'Create job': {
			workCluster: {
				__rl: true,
				mode: 'id',
				value: "={{ /\\b[0-2]$/.test($json.customer) ? 'nowhere' : 'wc-000001' }}",
			},
			inputsJson: `={{ [{ id: 'seconds', default: String(/\\b[3-7]$/.test($json.customer) ? 3600 : Math.max(0, ${callAt} - Date.now()) / 1000) }] }}`,
			options: { waitUntilCalled: 'callbackUrl', waitLimit: 1 },
		},
	});
	const { id } = example(host, file);
	const parent = await host.api.run(id, 'Run by hand');

	const waiting = await waitFor(
		async () => (await host.api.executions(id, ['waiting'])).length === COUNT - 2 || undefined,
		{ timeout: 35_000 },
	);
	expect(waiting).toBe(true);
	await host.n8n.kill();
	await host.restart();

	const ended = await waitFor(
		async () => {
			const executions = await host.api.executions(id);
			return executions.find((one) => one.id === parent && hasEnded(one))?.status;
		},
		{ timeout: 300_000 },
	);
	expect(ended).toBe('success');
	const { output } = await host.api.executionResult(parent);
	expect(output['Go on from here']).toEqual(results);
	const wentOn = (await host.api.executions(id)).filter(({ id: other }) => other !== parent);
	expect(wentOn).toHaveLength(COUNT);
}, 420_000);
