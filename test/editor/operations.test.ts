import { Client } from '../sandbox/client';
import { takePictures } from './images';
import { useStage } from './stage';

const it = useStage({ jobDuration: 600_000 });

describe('what else the node does', () => {
	it('suspends, resumes, stops and terminates a job', async ({ editor, sandbox }) => {
		const client = new Client(sandbox);
		await client.login();
		const [first, second] = [await client.createdJob(), await client.createdJob()];
		await editor.openNew();
		const form = await editor.addAction('Suspend job');
		for (const [name, job, after] of [
			['Suspend', first, 'suspended'],
			['Resume', first, 'running'],
			['Stop', first, 'stopped'],
			['Terminate', second, 'terminated'],
		] as const) {
			const { uid } = job.metadata;
			const verb = name.toLowerCase();
			await form.choose('operation', name);
			await form.fill('jobId', uid);
			await form.execute();
			await form.output
				.getByText(`"${verb}"`)
				.or(form.output.getByText(verb, { exact: true }))
				.first()
				.waitFor();
			const output = await form.outputAsJson();
			for (const part of [uid, `"${verb}"`, 'true']) expect(output).toContain(part);
			expect(sandbox.store.jobs.get(uid)?.state).toBe(after);
		}
	});

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
