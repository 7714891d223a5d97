import type { Execution, WorkflowNode } from '../../host/api';
import { waitFor } from '../../host/wait';
import { hasEnded, useHost } from './host';
import { customers, example, fillIn } from './workflows';

/*
 * The example that waits for jobs, in a real n8n: each job has an execution of its own, which waits for the
 * call that the job's template makes at its end.
 */

const file = 'continue-when-done.json';

/** A minute more than a job takes: n8n looks for waits that are over once a minute. */
const patience = { timeout: 100_000 };

const host = useHost('continue');

/** What the example hands to a job, and how long that job runs. */
function inputs(seconds: string): WorkflowNode['parameters'] {
	return {
		inputsJson: `={{ [
			{ id: 'seconds', default: String(${seconds}) }
		] }}`,
	};
}

/** Starts the example, and gives what looks at the executions that it has started for the jobs. */
async function start(): Promise<() => Promise<Execution[]>> {
	const { id } = example(host, file);
	const parent = Number(await host.api.run(id, 'Run by hand'));
	return async () =>
		(await host.api.executions(id)).filter((execution) => Number(execution.id) > parent);
}

/** The executions for the jobs once all of them have ended. */
async function ended(jobs: () => Promise<Execution[]>, count: number): Promise<Execution[]> {
	const all = await waitFor(async () => {
		const executions = await jobs();
		const over = executions.filter(hasEnded);
		return over.length === count ? executions : undefined;
	}, patience);
	return all ?? (await jobs());
}

/** What each execution went on with, by the customer whose job it was. */
async function wentOnWith(executions: Execution[]): Promise<Record<string, unknown>> {
	const results = executions.map(async ({ id }) => {
		const [item] = (await host.api.executionResult(id)).output['Go on from here'] ?? [];
		return [String(item?.['customer']), item] as const;
	});
	return Object.fromEntries(await Promise.all(results));
}

const everyCustomer = [
	...['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm'],
	...['Fir', 'Ginkgo', 'Hazel', 'Ivy', 'Juniper'],
];

const everyResult = () =>
	Object.fromEntries(
		everyCustomer.map((customer) => {
			const displayName = `Report for ${customer}`;
			const outputs = { report: `report of ${displayName}` };
			const jobId = expect.any(String);
			const result = { jobId, displayName, state: 'succeeded', outputs };
			return [customer, { jobId, customer, result }];
		}),
	);

test('ten jobs are created, and each goes on with what it brings', async () => {
	const executions = await ended(await start(), 10);
	expect(executions.map(({ status }) => status)).toEqual(new Array(10).fill('success'));
	expect(await wentOnWith(executions)).toEqual(everyResult());
}, 120_000);

test('a job that never calls ends after the limit, in an error that says so', async () => {
	await fillIn(host, file, {
		'Jobs to create': customers(['Alder', 'Birch']),
		'Create job': {
			...inputs("$json.customer === 'Birch' ? 3600 : 1"),
			options: { waitUntilCalled: 'callbackUrl', waitLimit: 0.1 },
		},
	});
	const executions = await ended(await start(), 2);
	const outcomes = executions.map(async ({ id, status }) => [
		status,
		(await host.api.executionResult(id)).error,
	]);
	expect((await Promise.all(outcomes)).sort()).toEqual([
		['error', "Say that it did not call: Job 'Report for Birch' did not call within 0.1 minutes"],
		['success', undefined],
	]);
}, 120_000);
