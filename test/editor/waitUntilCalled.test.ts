import { waitFor } from '../../host/wait';
import { jobNode } from '../../host/workflow';
import { takePictures } from './images';
import { useStage } from './stage';
import { afterStart } from './workflows';

const it = useStage();

it('the option Wait Until Called shows the body of the call beside the job', async ({
	page,
	editor,
	api,
}) => {
	await page.setViewportSize({ width: 1280, height: 1640 });
	const create = jobNode('Create', {
		workflowUid: 'call-when-done',
		displayName: 'Nightly report',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		outputs: { output: [{ id: 'report', value: 'reports/alder.pdf' }] },
	});
	const { id } = await api.createWorkflow(afterStart('Wait', [create]));
	await editor.open(id);
	const form = await editor.openNode('Create');
	await form.addTo('Options', 'Wait Until Called');
	await form.addTo('Options', 'Wait Limit');
	await form.execute();
	await form.showOutputAs('schema');
	await page.getByText('callback', { exact: true }).waitFor();
	await page.getByText('reports/alder.pdf').last().waitFor();
	await page.getByText("If 'callback' is null, the job didn't call").waitFor();
	await takePictures(page, 'wait-until-called', form.formAndOutput);
});

it('names the job while it waits; after a cancel, says that it runs on and where its ID is', async ({
	page,
	editor,
	api,
	sandbox,
}) => {
	const create = jobNode('Create', {
		workflowUid: 'never-calls',
		displayName: 'Nightly report',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		options: { waitUntilCalled: 'callbackUrl', waitLimit: 60 },
	});
	const { id } = await api.createWorkflow(afterStart('Cancelled', [create]));
	const saidInConsole: string[] = [];
	page.on('console', (message) => saidInConsole.push(message.text()));
	await editor.open(id);
	await editor.execute();
	const reaches = async (wanted: string) =>
		await waitFor(async () => (await api.executions(id))[0]?.status === wanted || undefined, {
			timeout: 20_000,
		});
	await reaches('waiting');
	const form = await editor.openNode('Create');
	const uid = [...sandbox.store.jobs.keys()].at(-1) ?? '';
	await page.getByText(`Waiting for the call of job ${uid}`).waitFor();
	await page.getByText("address in its input 'callbackUrl', for 60 minutes at most").waitFor();
	await form.close();

	await page.getByTestId('stop-execution-button').click();
	await reaches('canceled');
	await editor.openNode('Create');
	await page.getByText("after a cancel: its ID is in n8n's log and in the browser's").waitFor();
	expect(saidInConsole.join()).toContain(`waits for the call of job ${uid}`);
});
