import { setTimeout as sleep } from 'node:timers/promises';

import { inARow, manualTrigger, node, rows } from '../../host/workflow';
import { answer } from '../support/answer';
import { runToEnd, useHost } from './host';
import { createNode } from './workflows';

/*
 * If the service restarts during a batch, so that its tokens expire, and then refuses logins, the execution ends and
 * n8n stays responsive.
 */

const host = useHost('refused logins');

/**
 * Requests n8n's health endpoint until `isOver` returns true.
 *
 * @returns the longest time that a response took, in milliseconds
 */
async function longestAnswer(isOver: () => boolean): Promise<number> {
	let longestMs = 0;
	while (!isOver()) {
		const askedAt = performance.now();
		expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
		longestMs = Math.max(longestMs, performance.now() - askedAt);
		await sleep(100);
	}
	return longestMs;
}

test('if logins are refused during a batch, n8n stays responsive and the execution ends', async () => {
	const numbers = Array.from({ length: 12 }, (_, n) => ({ n }));
	const { id } = await host.api.createWorkflow(
		inARow('Restarted', [
			manualTrigger(),
			...rows(JSON.stringify(numbers)),
			createNode(
				'=Job {{ $json.n }}',
				{ options: { concurrency: 10 } },
				{ onError: 'continueRegularOutput' },
			),
			node('Next', 'n8n-nodes-base.noOp', {}),
		]),
	);
	await runToEnd(host, id);
	expect(host.sandbox.store.jobs.size).toBe(12);

	host.sandbox.clearCalls();
	host.sandbox.faults.plan(({ operation }) => {
		if (operation === 'login') return answer(401);
		return operation === 'createJob'
			? [{ kind: 'expireTokens' }, { kind: 'break', when: 'beforeActing' }]
			: undefined;
	});
	let isOver = false;
	const [execution, longestMs] = await Promise.all([
		runToEnd(host, id).finally(() => (isOver = true)),
		longestAnswer(() => isOver),
	]);
	expect(longestMs).toBeLessThan(5_000);

	const { output } = await host.api.executionResult(execution.id);
	const failed = output['Next']?.map(({ error }) => error) as Array<{ jobMayExist: boolean }>;
	const sent = host.sandbox.calls.filter(({ operation }) => operation === 'createJob');
	expect(failed).toHaveLength(12);
	expect(failed.filter(({ jobMayExist }) => jobMayExist)).toHaveLength(sent.length);
	expect(host.sandbox.store.jobs.size).toBe(12);
});
