import { Client } from '../sandbox/client';
import type { Editor } from './editor';
import { takePictures } from './images';
import { agentExample, startOpenAi, type OpenAi } from './openAi';
import { useStage } from './stage';

/*
 * An AI Agent can use the node as a tool in n8n's editor: with the example, as a tool that a user adds, and with fields
 * that the model fills in.
 */

const it = useStage({ jobDuration: 600_000 });

describe("the node as a tool of n8n's AI Agent", () => {
	let openAi: OpenAi;
	beforeAll(async () => {
		openAi = await startOpenAi();
	});
	afterAll(async () => await openAi.close());

	it('lists clusters, creates a job and stops it', async ({ page, editor, api, sandbox }) => {
		await page.setViewportSize({ width: 1280, height: 1040 });
		await editor.open((await api.createWorkflow(await agentExample(api, openAi))).id);
		openAi.willAnswer(
			{ tool: 'List_work_clusters', arguments: {} },
			{
				tool: 'Create_job',
				arguments: { clusterId: 'wc-000002', displayName: 'Sales report' },
			},
			{ says: 'It runs on south-virtual-2.' },
		);
		await ask(editor, 'Start the sales report.');
		await said(editor, 'It runs on south-virtual-2.');
		const [job] = sandbox.store.jobs.values();
		expect(job).toMatchObject({
			displayName: 'Sales report',
			cluster: { metadata: { uid: 'wc-000002' } },
		});
		// Closes the details of the log, which hide the picture's subject.
		await page.getByTestId('logs-overview').getByText('AI Agent').click();
		await takePictures(page, 'agent');

		const [first, second, third] = openAi.requests;
		expect(first?.tools?.map((tool) => tool.function.name).sort()).toEqual([
			'Create_job',
			'List_work_clusters',
			'Stop_job',
		]);
		expect(JSON.stringify(second?.messages.at(-1))).toContain('north-master-1');
		expect(JSON.stringify(third?.messages.at(-1))).toContain(job?.uid);

		openAi.willAnswer(
			{ tool: 'Stop_job', arguments: { jobId: job?.uid } },
			{ says: 'It is stopped.' },
		);
		await ask(editor, 'Stop it.');
		await said(editor, 'It is stopped.');
		expect(job?.state).toBe('stopped');
	});

	it('can be added to an agent, and sends the values of the fields that are left to the model', async ({
		editor,
		api,
		sandbox,
	}) => {
		const client = new Client(sandbox);
		await client.login();
		const { uid } = (await client.createdJob()).metadata;
		await editor.open((await api.createWorkflow(await agentExample(api, openAi))).id);
		await editor.addTool('AI Agent', 'Job Orchestration Tool');
		await editor.form.choose('operation', 'Suspend');
		await editor.form.leaveToModel('jobId');
		await editor.form.close();
		const form = await editor.openNode('Create job');
		const inputs = form.group('inputs');
		await form.add(inputs, 'Add Input');
		await form.fill('id', 'source', inputs);
		await form.leaveToModel('value', inputs);
		await form.close();

		sandbox.clearCalls();
		const copy = { clusterId: 'wc-000002', displayName: 'Copy', input0_Value: 'orders' };
		openAi.willAnswer(
			{ tool: 'Suspend_job_in_Job_Orchestration', arguments: { Job_ID: uid } },
			{ tool: 'Create_job', arguments: copy },
			{ says: 'It is suspended, and the orders are copied.' },
		);
		await ask(editor, 'Suspend the job, and copy the orders.');
		await said(editor, 'It is suspended, and the orders are copied.');
		expect(sandbox.store.jobs.get(uid)?.state).toBe('suspended');
		const { tools, messages } = openAi.requests.at(-1) ?? {};
		expect(tools?.map((tool) => tool.function)).toContainEqual(
			expect.objectContaining({
				name: 'Suspend_job_in_Job_Orchestration',
				description: 'Suspend job in Job Orchestration',
				parameters: expect.objectContaining({ required: ['Job_ID'] }),
			}),
		);
		const sent = sandbox.calls.find(({ operation }) => operation === 'createJob');
		expect(sent?.body).toMatchObject({ job: { inputs: [{ id: 'source', default: 'orders' }] } });
		const told = JSON.stringify(messages?.at(-1));
		expect(told).toContain('startedAt');
		expect(told).not.toContain('engineWorkflow');
	});
});

/** Sends a message to the workflow with the chat below the canvas. */
async function ask({ page }: Editor, text: string): Promise<void> {
	const input = page.getByTestId('canvas-chat').getByTestId('chat-input');
	if (!(await input.isVisible())) {
		await page.getByTestId('workflow-chat-button').click();
		await input.waitFor();
		await page.getByTestId('zoom-to-fit').click();
		await page.getByTestId('zoom-out-button').click();
	}
	await input.fill(text);
	await page.keyboard.press('Enter');
}

/** Waits until the chat shows the agent's answer and the workflow has ended. */
async function said({ page }: Editor, text: string): Promise<void> {
	await page.getByTestId('canvas-chat').getByText(text).waitFor();
	await page
		.getByTestId('logs-overview')
		.getByText(/^Success in/)
		.first()
		.waitFor();
	await page
		.getByTestId('logs-overview')
		.getByText(/Running for/)
		.first()
		.waitFor({ state: 'detached' });
}
