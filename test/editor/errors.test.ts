import { inARow, manualTrigger, rows } from '../../host/workflow';
import { planCreates } from '../host/workflows';
import { answer } from '../support/answer';
import { takePictures } from './images';
import { createJob, useStage } from './stage';

/*
 * The editor shows an error with the failed item, the advice and the jobs, and shows markup in it as text.
 */

const it = useStage({ jobDuration: 600_000 });

/** Returns a workflow that creates a job for each of these names, one at a time. */
const batchOf = (names: string[], displayName: string) =>
	inARow('A batch that fails', [
		manualTrigger(),
		...rows(JSON.stringify(names.map((name) => ({ name })))),
		createJob(displayName, { options: { concurrency: 1 } }),
	]);

describe('an item that fails', () => {
	it('names the item, the advice and the jobs', async ({ page, editor, api, sandbox }) => {
		planCreates(sandbox, { 3: { kind: 'break', when: 'afterActing' } });
		const { id } = await api.createWorkflow(
			batchOf(['North', 'South', 'East', 'West'], '=Report {{ $json.name }}'),
		);
		await editor.open(id);
		const form = await editor.openNode('Create job');
		await form.execute();

		const { title, description } = await form.error();
		expect(title).toMatch(
			/^2 of 4 jobs were created, 1 more may exist; item 2 failed: The connection broke before the answer was complete; the job may exist/,
		);
		expect(description).toContain("'Report East' in namespace 'default'");
		const [north, south] = [...sandbox.store.jobs.values()];
		// The editor shows each job in its own line.
		expect(description).toMatch(
			new RegExp(`\\n.*${north?.uid} \\('Report North'.*\\n.*${south?.uid} \\('Report South'`),
		);
		await page.setViewportSize({ width: 1280, height: 900 });
		await takePictures(page, 'error', form.formAndOutput);
	});

	it('shows markup as text, in the node and in the temporary notification', async ({
		page,
		editor,
		api,
		sandbox,
	}) => {
		const markup =
			'<a href="evil:x">x</a> <img src=x onerror="ranFromText = true"> <script>1</script> &lt; a < b';
		const asText =
			'‹a href="evil:x"›x‹/a› ‹img src=x onerror="ranFromText = true"› ‹script›1‹/script› ＆lt; a ‹ b';
		planCreates(sandbox, { 2: answer(400, { message: markup }) });
		const { id } = await api.createWorkflow(batchOf([markup, 'East'], '={{ $json.name }}'));
		await editor.open(id);
		await editor.execute();
		const notice = editor.notice('The service refused to create the job');
		await notice.waitFor();
		expect(await notice.innerText()).toContain('‹a href="evil:x"›');
		const form = await editor.openNode('Create job');
		const { title, description } = await form.error();
		expect(title).toMatch(
			/^1 of 2 jobs were created; item 1 failed: The service refused to create the job: ‹a href=/,
		);
		expect(description).toContain(`The service says: {"message":${JSON.stringify(asText)}}`);
		const uid = [...sandbox.store.jobs.keys()].at(-1);
		expect(description).toContain(`• item 0: ${uid} ('${asText}' in namespace 'default')`);
		for (const text of [notice, form.errorTitle, form.errorDescription]) {
			expect(await text.locator('a[href*=evil], img[src=x], script').count()).toBe(0);
		}
		expect(await page.locator('[onerror]').count()).toBe(0);
		expect(await page.evaluate('typeof ranFromText')).toBe('undefined');
	});
});
