import { inARow, jobNode, manualTrigger } from '../../host/workflow';
import { takePictures } from './images';
import { createJob, useStage } from './stage';

/*
 * Before the first run, the editor shows the fields of the output, so that a user can drag them into the next node.
 */

const it = useStage();

describe('before anything has run', () => {
	it('a job ID is dragged into the next node', async ({ page, editor, api, sandbox }) => {
		const { id } = await api.createWorkflow(
			inARow('Dragged', [
				manualTrigger(),
				createJob('Report'),
				jobNode('Stop', { operation: 'stop' }),
			]),
		);
		await page.setViewportSize({ width: 1280, height: 700 });
		await editor.open(id);
		const form = await editor.openNode('Stop');
		const expression = '{{ $json.metadata.uid }}';
		const uid = page.getByTestId('ndv-input-panel').locator(`[data-value="${expression}"]`);
		await form.drag(uid, form.field('jobId'));

		await form.field('jobId').getByText(expression).waitFor();
		expect(sandbox.calls).toEqual([]);
		await takePictures(page, 'before-first-run', form.inputAndForm);
		await form.execute();
		expect([...sandbox.store.jobs.values()].map(({ state }) => state)).toEqual(['stopped']);
	});
});
