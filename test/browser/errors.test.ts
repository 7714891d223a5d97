import { clusterById, CLUSTER } from '../engine/fixture';
import { Client } from '../sandbox/client';
import { takePicture } from './images';
import { useStage } from './stage';
import { inARow, jobNode } from './workflows';

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
		expect(description).toContain('It was item 2 (the first is 0).');
		expect(description).toContain("'Report East' in namespace 'default'");
		const [north, south] = [...sandbox.store.jobs.values()];
		// As it is shown, each job in a line of its own.
		expect(description).toMatch(
			new RegExp(`\\n.*${north?.uid} \\('Report North'.*\\n.*${south?.uid} \\('Report South'`),
		);
		await page.setViewportSize({ width: 1280, height: 745 });
		await takePicture(page, 'error', form.formAndOutput);
	});

	it("shows the service's words as text, even if they look like markup", async ({
		page,
		editor,
		api,
		sandbox,
	}) => {
		const markup =
			'<img src=x onerror="ranFromText = true"> <b>x</b> &lt; <script>1</script> a < b';
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 3
				? { kind: 'answer', when: 'beforeActing', status: 400, body: { message: markup } }
				: undefined,
		);
		const create = jobNode('Create', {
			workflowUid: 'report',
			workCluster: clusterById(CLUSTER),
			displayName: '={{ $json.name }}',
			options: { concurrency: 1 },
		});
		const named = [{ name: 'North' }, { name: markup }, { name: 'East' }];
		const { id } = await api.createWorkflow(inARow('Markup', [create], named));
		const known = new Set(sandbox.store.jobs.keys());
		await editor.open(id);
		const form = await editor.openNode('Create');
		await form.execute();

		const { title, description } = await form.error();
		expect(title).toMatch(
			/^The service refused to create a job in namespace 'default'( \[item 2\])?$/,
		);
		expect(description).toContain(`The service says: "${markup}" (HTTP 400).`);
		const [north, second] = [...sandbox.store.jobs.keys()].filter((uid) => !known.has(uid));
		expect(description).toContain(`- item 0: ${north} ('North' in namespace 'default')`);
		expect(description).toContain(`- item 1: ${second} ('${markup}' in namespace 'default')`);
		for (const text of [form.errorTitle, form.errorDescription]) {
			expect(await text.locator('img, b, script').count()).toBe(0);
		}
		expect(await page.locator('[onerror]').count()).toBe(0);
		expect(await page.evaluate('typeof ranFromText')).toBe('undefined');
	});

	it('goes on by the error output that is chosen in the settings, with what went wrong', async ({
		editor,
		api,
		sandbox,
	}) => {
		const client = new Client(sandbox);
		await client.login();
		const { uid } = (await client.createdJob()).metadata;
		const stop = jobNode('Stop', { operation: 'stop', jobId: '={{ $json.uid }}' });
		const { id } = await api.createWorkflow(
			inARow('Error output', [stop], [{ uid }, { uid: 'no-such-job' }]),
		);
		await editor.open(id);
		const form = await editor.openNode('Stop');
		await form.execute();
		const { title, description } = await form.error();
		expect(title).toContain("No job 'no-such-job' in namespace 'default'");
		expect(description).toContain('Check Job ID and Namespace.');
		expect(description).toContain('It was item 1 (the first is 0).');

		await form.openSettings();
		await form.choose('onError', 'Continue (using error output)');
		await form.close();
		await editor.addAfter('Stop', 0, doNothing);
		await form.close();
		await editor.addAfter('Stop', 1, doNothing);
		await form.close();
		await editor.execute();
		await editor.notice('Workflow executed successfully').waitFor();

		// n8n numbers the second of a name.
		await editor.openNode(`${doNothing}1`);
		const failed = await form.outputAsJson();
		expect(failed).toContain("No job 'no-such-job' in namespace 'default'");
		expect(failed).toContain('Check Job ID and Namespace.');
		expect(failed).not.toContain(uid);
		await form.close();
		await editor.openNode(doNothing);
		const done = await form.outputAsJson();
		expect(done).toContain(uid);
		expect(done).not.toContain('no-such-job');
	});
});

/** A node of n8n that passes on what it gets. */
const doNothing = 'No Operation, do nothing';
