import { jobNode, node } from '../../host/workflow';
import type { Editor } from './editor';
import { takePictures } from './images';
import { useStage } from './stage';
import { afterStart } from './workflows';

const it = useStage();

const workCluster = { __rl: true, mode: 'id', value: 'wc-000001' };
const create = jobNode('Create', { workflowUid: 'report', displayName: 'Report', workCluster });

/** What operations of each kind give, as it is shown before it has run. */
const previews = [
	{
		of: create,
		fields: [
			...['metadata', 'namespace', 'uid', 'name', 'displayName', 'group', 'workflow', 'uid'],
			...['priority', 'status', 'startedAt', 'finishedAt', 'workspace', 'workCluster'],
		],
	},
	{
		of: jobNode('Suspend', { operation: 'suspend', jobId: 'a-job' }),
		fields: ['metadata', 'namespace', 'uid', 'operation', 'success', 'response'],
	},
	{
		of: jobNode('Clusters', { resource: 'cluster', operation: 'getAll' }),
		fields: [
			...['metadata', 'uid', 'name', 'type', 'self', 'selector'],
			...['status', 'createdAt', 'updatedAt', 'phase'],
		],
	},
];

/** The fields that the node before gives, as the node that is open shows them. */
const fieldsBefore = ({ page }: Editor) =>
	page.getByTestId('ndv-input-panel').getByTestId('run-data-schema-item');

describe('before anything has run', () => {
	it('a job ID is dragged into the next node', async ({ page, editor, api, sandbox }) => {
		const { id } = await api.createWorkflow(
			afterStart('Dragged', [create, jobNode('Stop', { operation: 'stop' })]),
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

	it('each kind of operation shows what it gives', async ({ editor, api }) => {
		const end = node('End', 'n8n-nodes-base.noOp', {});
		const { id } = await api.createWorkflow(
			afterStart('Previews', [...previews.map(({ of }) => of), end]),
		);
		await editor.open(id);
		for (const [index, { fields }] of previews.entries()) {
			const form = await editor.openNode(previews[index + 1]?.of.name ?? end.name);
			await fieldsBefore(editor)
				.nth(fields.length - 1)
				.waitFor();
			const shown = (await fieldsBefore(editor).allInnerTexts()).map((text) => text.trim());
			// Where there is room, n8n's own variables stand below.
			expect(shown.filter((text) => !text.startsWith('$')).sort()).toEqual([...fields].sort());
			await form.close();
		}
	});
});
