import type { N8nApi } from '../../host/api';
import { inARow, jobNode, webhook } from '../../host/workflow';
import type { Sandbox } from '../../sandbox';
import { post, publish } from '../queue/load';
import { takesTenAtOnce } from '../support/answer';

const CALLS = 200;

interface ManyCalls {
	/** The display names of the jobs that exist. */
	jobs: string[];
	/** How many calls were answered with a job, with an error, or never. */
	answered: { created: number; failed: number; never: number };
	/** The errors of the executions that failed. */
	errors: Array<string | undefined>;
	/** The longest time in milliseconds that n8n's page took meanwhile. */
	slowestPageMs: number;
}

/** Calls a production webhook 200 times at once. Each call creates a job at a service that takes ten at a time. */
export async function manyCalls(api: N8nApi, n8nUrl: string, sandbox: Sandbox): Promise<ManyCalls> {
	const create = {
		workflowUid: 'template-1',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		displayName: '=Job of execution {{ $execution.id }}',
	};
	const nodes = [webhook('many-calls', 'lastNode'), jobNode('Create', create)];
	const { id } = await publish(api, inARow('Many calls', nodes));
	sandbox.faults.plan(takesTenAtOnce(300));

	const posting = post(`${n8nUrl}/webhook/many-calls`, CALLS, CALLS);
	const isOver = posting.then(() => true);
	let slowestPageMs = 0;
	do {
		const startedAt = performance.now();
		await (await fetch(n8nUrl)).text();
		slowestPageMs = Math.max(slowestPageMs, performance.now() - startedAt);
	} while (!(await Promise.race([isOver, false])));
	const statuses = await posting;
	const count = (status: number) => statuses.filter((one) => one === status).length;

	const failed = await api.executions(id, ['error', 'crashed']);
	const errors = failed.map(async (one) => (await api.executionResult(one.id)).error);
	await api.deactivate(id);
	return {
		jobs: [...sandbox.store.jobs.values()].map(({ displayName }) => displayName),
		answered: { created: count(200), failed: count(500), never: count(0) },
		errors: await Promise.all(errors),
		slowestPageMs,
	};
}
