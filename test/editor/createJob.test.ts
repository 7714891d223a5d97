import type { Page } from 'playwright-core';

import { jobNode } from '../../host/workflow';
import { ClusterList } from './clusterList';
import { takePictures } from './images';
import { useStage } from './stage';
import { afterStart } from './workflows';

/*
 * A user can create a job in n8n's editor with six clicks, and can also enter IDs, expressions and JSON.
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
		const clusters = new ClusterList(page);
		await form.tabTo(clusters.withCursor);
		await clusters.opened();
		await clusters.searchFor('wc-000002', 'south-virtual-2 (virtual)');
		await clusters.entries.first().click();
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

	it('takes IDs, expressions and parameters as JSON', async ({ page, editor, api, sandbox }) => {
		const { id } = await api.createWorkflow(
			afterStart('Parameters', [create({})], [{ name: 'Sales', threshold: 0.5 }]),
		);
		await editor.open(id);
		const form = await editor.openNode('Create job');

		const clusters = new ClusterList(page);
		await clusters.giveId();
		await clusters.input.fill('wc-000002');
		await form.fillExpression('displayName', 'Report {{ $json.name }}');

		const inputs = form.group('inputs');
		await form.add(inputs, 'Add Input');
		await form.fill('id', 'input-1', inputs);
		await form.fill('value', '0.5', inputs);
		const outputs = form.group('outputs');
		await form.add(outputs, 'Add Output');
		await form.fill('id', 'output-1', outputs);
		await form.addField(outputs, 'Display Name');
		await form.fill('displayName', 'Result', outputs);
		await form.execute();

		const sent = sandbox.calls.find(({ operation }) => operation === 'createJob');
		expect(sent?.body).toMatchObject({
			job: {
				displayName: 'Report Sales',
				workCluster: 'wc-000002',
				inputs: [{ id: 'input-1', default: '0.5', type: 'string', controls: 'input', anchors: [] }],
				outputs: [
					{
						id: 'output-1',
						displayName: 'Result',
						controls: 'input',
						anchors: [],
					},
				],
			},
		});
		expect(await form.outputAsJson()).toContain('Report Sales');

		await form.choose('specifyParameters', 'Using JSON');
		await form.write(form.field('inputsJson'), '[{ "id": "input-1", "default": "0.5" }]');
		await form.execute();
		const again = sandbox.calls.findLast(({ operation }) => operation === 'createJob');
		expect(again?.body).toMatchObject({
			job: { inputs: [{ id: 'input-1', default: '0.5' }], outputs: [] },
		});
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

const create = (parameters: Record<string, unknown>) =>
	jobNode('Create job', { workflowUid: 'report', ...parameters });
