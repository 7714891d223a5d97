import { clusterById, CLUSTER } from '../engine/fixture';
import { Client } from '../sandbox/client';
import { takePicture } from './images';
import { useStage } from './stage';
import { inARow, jobNode, mainInputOf, node } from './workflows';

const it = useStage({ jobDuration: 600_000 });

const rows = [{ name: 'North' }, { name: 'South' }, { name: 'East' }, { name: 'West' }];

describe('an item that fails', () => {
	it('shows what happened, to which item, what to do, and which jobs there are', async ({
		page,
		editor,
		api,
		sandbox,
	}) => {
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 3
				? { kind: 'break', when: 'afterActing' }
				: undefined,
		);
		const create = jobNode('Create', {
			workflowUid: 'report',
			workCluster: clusterById(CLUSTER),
			displayName: '=Report {{ $json.name }}',
			options: { concurrency: 1 },
		});
		const { id } = await api.createWorkflow(inARow('A batch that fails', [create], rows));
		await editor.open(id);
		const form = await editor.openNode('Create');
		await form.execute();

		const { title, description } = await form.error();
		expect(title).toContain('the job may exist nevertheless');
		expect(title).toContain('[item 2]');
		expect(description).toContain("'Report East' in namespace 'default'");
		const [north, south] = [...sandbox.store.jobs.values()];
		// As it is shown, each job in a line of its own.
		expect(description).toMatch(
			new RegExp(`\\n.*${north?.uid} \\('Report North'.*\\n.*${south?.uid} \\('Report South'`),
		);
		await takePicture(page, 'error', form.formAndOutput);
	});

	it('goes on by the error output, with what went wrong', async ({ editor, api, sandbox }) => {
		const client = new Client(sandbox);
		await client.login();
		const { uid } = (await client.createdJob()).metadata;
		const stop = jobNode(
			'Stop',
			{ operation: 'stop', jobId: '={{ $json.uid }}' },
			{ onError: 'continueErrorOutput' },
		);
		const done = node('Done', 'n8n-nodes-base.noOp', {}, { position: [440, -100] });
		const failed = node('Failed', 'n8n-nodes-base.noOp', {}, { position: [440, 100] });
		const workflow = inARow('Error output', [stop], [{ uid }, { uid: 'no-such-job' }]);
		const { id } = await api.createWorkflow({
			...workflow,
			nodes: [...workflow.nodes, done, failed],
			connections: {
				...workflow.connections,
				Stop: { main: [[mainInputOf('Done')], [mainInputOf('Failed')]] },
			},
		});
		await editor.open(id);
		await editor.execute();
		await editor.notice('Workflow executed successfully').waitFor();

		const form = await editor.openNode('Failed');
		const output = await form.outputAsJson();
		expect(output).toContain("No job 'no-such-job' in namespace 'default'");
		expect(output).not.toContain(uid);
		await form.close();
		await editor.openNode('Done');
		expect(await form.outputAsJson()).toContain(uid);
	});
});
