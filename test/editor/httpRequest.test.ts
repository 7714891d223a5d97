import { credentialName } from '../../host/examples';
import { node } from '../../host/workflow';
import { useStage } from './stage';
import { afterStart } from './workflows';

const it = useStage();

describe("n8n's HTTP Request node", () => {
	it('calls the service with the credential', async ({ editor, api, sandbox }) => {
		const call = node(
			'Call',
			'n8n-nodes-base.httpRequest',
			{ url: `${sandbox.url}/api/v1/clusters`, options: {} },
			{ typeVersion: 4.2 },
		);
		const { id } = await api.createWorkflow(afterStart('Another call', [call]));
		await editor.open(id);
		const form = await editor.openNode('Call');
		await form.choose('authentication', 'Predefined Credential Type');
		await form.field('nodeCredentialType').locator('input').click();
		await form.field('nodeCredentialType').locator('input').fill('Job Orch');
		await form.option('Job Orchestration API').click();
		await form.element.getByTestId('node-credentials-select').click();
		await form.option(credentialName).click();
		await form.execute();

		expect(await form.outputAsJson()).toContain('north-master-1');
		expect(sandbox.calls.map(({ operation, status }) => [operation, status])).toEqual([
			['login', 200],
			['listClusters', 200],
		]);
	});
});
