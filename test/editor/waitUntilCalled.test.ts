import { inARow, manualTrigger } from '../../host/workflow';
import { soon } from '../host/host';
import { takePictures } from './images';
import { createJob, useStage } from './stage';

/*
 * The editor shows the call that Wait Until Called has received, and names the job while the execution waits.
 */

const it = useStage();

it('the output of Wait Until Called shows the body of the call next to the job', async ({
	page,
	editor,
	api,
}) => {
	await page.setViewportSize({ width: 1280, height: 1640 });
	const create = createJob('Nightly report', {
		workflowUid: 'call-when-done',
		outputs: { output: [{ id: 'report', value: 'reports/alder.pdf' }] },
	});
	const { id } = await api.createWorkflow(inARow('Wait', [manualTrigger(), create]));
	await editor.open(id);
	const form = await editor.openNode('Create job');
	await form.addTo('Options', 'Wait Until Called');
	await form.addTo('Options', 'Wait Limit');
	await form.execute();
	await form.showOutputAs('schema');
	await page.getByText('callback', { exact: true }).waitFor();
	await page.getByText('reports/alder.pdf').last().waitFor();
	// The hint that is shown during the wait is gone.
	expect(await page.getByTestId('node-hint').count()).toBe(0);
	await takePictures(page, 'wait-until-called', form.formAndOutput);
});

it('a waiting execution names its job, says that a cancel does not end the job, and says where to find its ID afterwards', async ({
	page,
	editor,
	api,
	sandbox,
}) => {
	const create = createJob('Nightly report', {
		options: { waitUntilCalled: 'callbackUrl', waitLimit: 60 },
	});
	const { id } = await api.createWorkflow(inARow('Cancelled', [manualTrigger(), create]));
	await editor.open(id);
	await editor.execute();
	const reaches = async (wanted: string) =>
		await soon(async () => (await api.executions(id))[0]?.status === wanted);
	await reaches('waiting');
	const form = await editor.openNode('Create job');
	const uid = [...sandbox.store.jobs.keys()].at(-1) ?? '';
	const notice = page.getByText(`If you cancel the execution, job ${uid} goes on.`);
	await notice.waitFor();
	expect(await page.getByTestId('node-hint').count()).toBe(1);
	await page.getByText("address in its input 'callbackUrl', for 60 minutes at most").waitFor();
	await form.close();

	await page.getByTestId('stop-execution-button').click();
	await reaches('canceled');
});
