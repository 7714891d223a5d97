import { takePicture } from './images';
import { useStage } from './stage';

/*
 * The panel of n8n's editor finds the node by many words, and shows its icon and its actions.
 */

const it = useStage();

const otherWords = [
	...['job', 'task', 'batch', 'pipeline', 'run', 'start', 'pause', 'stop', 'cancel'],
	...['create job', 'run job', 'stop job'],
];

describe('the panel of nodes', () => {
	it('finds the node by its name and by other words for what it does', async ({ editor }) => {
		await editor.openNew();
		await editor.addFirstStep.click();
		for (const text of ['Job Orchestration', 'cluster', ...otherWords]) {
			await editor.panel.find(text);
			await editor.panel.named('Job Orchestration').waitFor();
			await editor.panel.find('no such node');
			await editor.panel.named('Job Orchestration').waitFor({ state: 'detached' });
		}
	});

	it('shows icon and actions in both themes', async ({ editor, page }) => {
		await page.setViewportSize({ width: 1280, height: 1000 });
		for (const [theme, file, picture] of [
			['light', 'jobOrchestration.svg', 'panel'],
			['dark', 'jobOrchestration.dark.svg', 'panel-dark'],
		] as const) {
			await page.emulateMedia({ colorScheme: theme });
			await editor.openNew();
			await editor.addFirstStep.click();
			await editor.panel.find('job');
			const entry = editor.panel.named('Job Orchestration');
			await entry.waitFor();

			const address = (await entry.locator('img').first().getAttribute('src')) ?? '';
			expect(address).toMatch(new RegExp(`/${file.replaceAll('.', '\\.')}$`));
			const icon = await page.request.get(address);
			expect(icon.headers()['content-type']).toContain('image/svg+xml');

			await editor.panel.open('Job Orchestration');
			expect(await editor.panel.actions()).toEqual([
				...['CLUSTER ACTIONS', 'Get many clusters', 'JOB ACTIONS', 'Create job', 'Resume job'],
				...['Stop job', 'Suspend job', 'Terminate job'],
			]);
			await takePicture(page, picture, [editor.panel.element]);
		}
	});
});
