import { takePicture, takePictures } from './images';
import { useStage } from './stage';

/*
 * The panel of n8n's editor finds the node by many words, and shows its icon and its actions. The editor shows the work
 * clusters that the node lists.
 */

const it = useStage();

describe('the panel of nodes', () => {
	it('finds the node by its name and by other words, and shows icon and actions in both themes', async ({
		editor,
		page,
		sandbox,
	}) => {
		await page.setViewportSize({ width: 1280, height: 1000 });
		await editor.openNew();
		await editor.addFirstStep.click();
		const entry = editor.panel.named('Job Orchestration');
		for (const text of ['cluster', 'pipeline', 'pause', 'stop job', 'job', 'Job Orchestration']) {
			await editor.panel.find('no such node');
			await entry.waitFor({ state: 'detached' });
			await editor.panel.find(text);
			await entry.waitFor();
		}
		for (const [colorScheme, file, picture] of [
			['dark', 'jobOrchestration.dark.svg', 'panel-dark'],
			['light', 'jobOrchestration.svg', 'panel'],
		] as const) {
			await page.emulateMedia({ colorScheme });
			const image = entry.locator(`img[src$="/${file}"]`).first();
			const icon = await page.request.get((await image.getAttribute('src')) ?? '');
			expect(icon.headers()['content-type']).toContain('image/svg+xml');
			await editor.panel.open('Job Orchestration');
			await takePicture(page, picture, [editor.panel.element]);
			if (colorScheme === 'dark') await editor.panel.goBack();
		}
		expect(await editor.panel.actions()).toEqual([
			...['CLUSTER ACTIONS', 'Get many clusters', 'JOB ACTIONS', 'Create job', 'Resume job'],
			...['Stop job', 'Suspend job', 'Terminate job'],
		]);

		await page.setViewportSize({ width: 2400, height: 765 });
		const form = await editor.chooseAction('Get many clusters');
		await form.execute();
		await form.showOutputAs('table');
		for (const { name } of sandbox.store.clusters) {
			await form.output.getByText(name, { exact: true }).waitFor();
		}
		await takePictures(page, 'cluster-list', form.formAndOutput);
	});
});
