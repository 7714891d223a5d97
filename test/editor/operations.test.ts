import { takePictures } from './images';
import { useStage } from './stage';

/*
 * The editor shows the work clusters that the node lists.
 */

const it = useStage();

describe('Get Many', () => {
	it('lists the work clusters', async ({ page, editor, sandbox }) => {
		await page.setViewportSize({ width: 2400, height: 765 });
		await editor.openNew();
		const form = await editor.addAction('Get many clusters');
		await form.execute();
		await form.showOutputAs('table');
		for (const { name } of sandbox.store.clusters) {
			await form.output.getByText(name, { exact: true }).waitFor();
		}
		await takePictures(page, 'cluster-list', form.formAndOutput);
	});
});
