import type { Page } from 'playwright-core';

import { takePictures } from './images';
import { useStage } from './stage';

/*
 * A user can create a job in n8n's editor with six clicks.
 */

const it = useStage({ clusters: 350 });

describe('creating a job', () => {
	it('takes six clicks, with Tab from field to field', async ({ page, editor, sandbox }) => {
		await page.setViewportSize({ width: 1440, height: 1270 });
		const jobs = sandbox.store.jobs.size;
		const clicks = await countClicks(page);
		await editor.openNew();
		const form = await editor.addAction('Create job');
		await form.click('workflowUid');
		await page.keyboard.type('report');
		await form.tabTo(form.withCursor('displayName'));
		await page.keyboard.type('Nightly report');
		// At the focus, the field opens a drop-down, whose search takes over the focus.
		const clusters = page.locator(
			'[data-test-id=rlc-input] input:focus, input[data-test-id=rlc-input]:focus',
		);
		await form.tabTo(page.getByTestId('rlc-search').or(clusters));
		const entries = page.getByTestId('rlc-item');
		await entries.first().waitFor();
		await page.keyboard.type('wc-000002');
		await entries.nth(1).waitFor({ state: 'detached' });
		await entries.filter({ hasText: 'south-virtual-2 (virtual)' }).click();
		await form.execute();

		const [job] = [...sandbox.store.jobs.values()].slice(jobs);
		expect(job).toMatchObject({
			displayName: 'Nightly report',
			cluster: { metadata: { uid: 'wc-000002' } },
		});
		expect(clicks()).toBe(6);
		expect(await form.outputAsJson()).toContain(job?.uid);
		await form.showOutputAs('schema');
		await takePictures(page, 'create-job', form.formAndOutput);
	});
});

/** Counts the clicks in the page that is opened next. */
async function countClicks(page: Page): Promise<() => number> {
	let clicks = 0;
	await page.exposeFunction('countClick', () => {
		clicks += 1;
	});
	await page.addInitScript({
		content: "addEventListener('pointerdown', (e) => e.isTrusted && countClick(), true)",
	});
	return () => clicks;
}
