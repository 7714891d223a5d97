import { jobNode } from '../../host/workflow';
import { answer } from '../support/answer';
import { takePictures } from './images';
import { useStage } from './stage';
import { afterStart, createJob } from './workflows';

/*
 * The editor shows an error with the failed item, the advice and the jobs, and shows markup in it as text.
 */

const it = useStage({ jobDuration: 600_000 });

/** Returns a node that creates a job for each row, one at a time. */
const create = (parameters = {}) =>
	createJob({
		...{ displayName: '=Report {{ $json.name }}', options: { concurrency: 1 } },
		...parameters,
	});

const rows = [{ name: 'North' }, { name: 'South' }, { name: 'East' }, { name: 'West' }];

describe('an item that fails', () => {
	it('names the item, the advice and the jobs', async ({ page, editor, api, sandbox }) => {
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 3
				? { kind: 'break', when: 'afterActing' }
				: undefined,
		);
		const { id } = await api.createWorkflow(afterStart('A batch that fails', [create()], rows));
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

	it("shows markup in the service's words as text", async ({ page, editor, api, sandbox }) => {
		const markup =
			'<img src=x onerror="ranFromText = true"> <b>x</b> &lt; <script>1</script> a < b';
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 3
				? answer(400, { message: markup })
				: undefined,
		);
		const named = [{ name: 'North' }, { name: markup }, { name: 'East' }];
		const byName = create({ displayName: '={{ $json.name }}' });
		const { id } = await api.createWorkflow(afterStart('Markup', [byName], named));
		const known = new Set(sandbox.store.jobs.keys());
		await editor.open(id);
		const form = await editor.openNode('Create job');
		await form.execute();

		const { title, description } = await form.error();
		expect(title).toMatch(
			/^2 of 3 jobs were created; item 2 failed: The service refused to create the job: ‹img src=x/,
		);
		const asText =
			'‹img src=x onerror="ranFromText = true"› ‹b›x‹/b› ＆lt; ‹script›1‹/script› a ‹ b';
		expect(description).toContain(`The service says: {"message":${JSON.stringify(asText)}}`);
		const [north, second] = [...sandbox.store.jobs.keys()].filter((uid) => !known.has(uid));
		expect(description).toContain(`• item 0: ${north} ('North' in namespace 'default')`);
		expect(description).toContain(`• item 1: ${second} ('${asText}' in namespace 'default')`);
		for (const text of [form.errorTitle, form.errorDescription]) {
			expect(await text.locator('img, b, script').count()).toBe(0);
		}
		expect(await page.locator('[onerror]').count()).toBe(0);
		expect(await page.evaluate('typeof ranFromText')).toBe('undefined');
	});

	it('does not turn a job ID into a link in the temporary notification', async ({
		page,
		editor,
		api,
	}) => {
		const stop = jobNode('Stop', {
			...{ operation: 'stop', jobId: '<a href="evil:example">Session expired' },
		});
		const { id } = await api.createWorkflow(afterStart('A link as an ID', [stop]));
		await editor.open(id);
		await editor.execute();
		const notice = editor.notice('in namespace');
		await notice.waitFor();
		expect(await notice.innerText()).toContain('No job \'‹a href="evil:example"›');
		const { title, description } = await (await editor.openNode('Stop')).error();
		expect(title).toContain('No job \'‹a href="evil:example"›');
		expect(description).toContain("There is no job '‹a href=");
		expect(await page.locator('a[href*="evil"]').count()).toBe(0);
	});
});
