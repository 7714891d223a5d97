import { inARow, webhook } from '../../host/workflow';
import { post, publish } from '../queue/load';
import { takesTenAtOnce } from '../support/answer';
import { useHost } from './host';
import { createNode } from './workflows';

/*
 * The calls of a production webhook, an execution with one job each, share one limiter.
 */

const host = useHost('many-calls');
const CALLS = 200;

test('where the service takes ten at a time, every call ends, and few jobs are uncertain', async () => {
	const { api, n8n, sandbox } = host;
	const create = createNode('=Job of execution {{ $execution.id }}');
	const nodes = [webhook('many-calls', 'lastNode'), create];
	const { id } = await publish(api, inARow('Many calls', nodes));
	sandbox.faults.plan(takesTenAtOnce(300));

	const posting = post(`${n8n.url}/webhook/many-calls`, CALLS, CALLS);
	const isOver = posting.then(() => true);
	let slowestPageMs = 0;
	do {
		const startedAt = performance.now();
		await (await fetch(n8n.url)).text();
		slowestPageMs = Math.max(slowestPageMs, performance.now() - startedAt);
	} while (!(await Promise.race([isOver, false])));
	expect(slowestPageMs).toBeLessThan(2_000);

	const failed = await api.executions(id, ['error', 'crashed']);
	expect(failed.length).toBeLessThanOrEqual(5);
	for (const execution of failed) {
		expect((await api.executionResult(execution.id)).error).toMatch(/the job may exist/);
	}
	const created = CALLS - failed.length;
	const statuses = await posting;
	expect(statuses.filter((status) => status === 200)).toHaveLength(created);
	expect(statuses.filter((status) => status === 500)).toHaveLength(failed.length);
	const names = [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);
	expect(names).toHaveLength(created);
	expect(new Set(names).size).toBe(created);
}, 120_000);
