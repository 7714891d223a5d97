import { once } from 'node:events';

import { waitFor } from '../../host/wait';
import { jobNode } from '../../host/workflow';
import { clusterById, CLUSTER } from '../support/fixture';
import { useStage } from './stage';
import { afterStart } from './workflows';

const it = useStage();

describe('the button that stops a workflow', () => {
	it('stops it in mid-batch: no further call comes', async ({ page, editor, api, sandbox }) => {
		const answers = new AbortController();
		const released = once(answers.signal, 'abort');
		sandbox.faults.plan(({ operation }) =>
			operation === 'createJob'
				? { kind: 'wait', when: 'beforeActing', until: released }
				: undefined,
		);
		const create = jobNode('Create', {
			workflowUid: 'report',
			workCluster: clusterById(CLUSTER),
			displayName: '=Report {{ $json.n }}',
			options: { concurrency: 5 },
		});
		const items = Array.from({ length: 100 }, (_, n) => ({ n }));
		const { id } = await api.createWorkflow(afterStart('A long batch', [create], items));
		const saidInConsole: string[] = [];
		page.on('console', (message) => saidInConsole.push(message.text()));
		const creates = () => sandbox.calls.filter(({ operation }) => operation === 'createJob');

		await editor.open(id);
		await editor.execute();
		await waitFor(async () => creates().length === 5 || undefined, { timeout: 20_000 });
		await page.getByTestId('stop-execution-button').click();
		await editor.notice('Execution stopped').waitFor();
		await waitFor(
			async () =>
				saidInConsole.some((text) => text.includes('Items whose job may exist: [0,1,2,3,4]')) ||
				undefined,
			{ timeout: 10_000 },
		);
		answers.abort();

		// Whatever n8n had yet to send would come before what it is asked for now.
		const list = jobNode('List', { resource: 'cluster', operation: 'getAll' });
		const later = await api.createWorkflow(afterStart('Afterwards', [list]));
		await editor.open(later.id);
		await (await editor.openNode('List')).execute();
		expect(sandbox.calls.at(-1)?.operation).toBe('listClusters');
		expect(creates()).toHaveLength(5);
		const [execution] = await api.executions(id);
		expect(execution?.status).toBe('canceled');
	});
});
