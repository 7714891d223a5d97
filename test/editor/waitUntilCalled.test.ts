import { jobNode } from '../../host/workflow';
import { takePicture } from './images';
import { useStage } from './stage';
import { afterStart } from './workflows';

const it = useStage();

it('the option Wait Until Called shows the body of the call beside the job', async ({
	page,
	editor,
	api,
}) => {
	await page.setViewportSize({ width: 1280, height: 1500 });
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
	await form.execute();
	await form.showOutputAs('schema');
	await page.getByText('callback', { exact: true }).waitFor();
	await page.getByText('reports/alder.pdf').last().waitFor();
	await takePicture(page, 'wait-until-called', form.formAndOutput);
});
