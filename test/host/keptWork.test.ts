import { join } from 'node:path';

import { credentialName, firstExample, saveCredential, saveExamples } from '../../host/examples';
import { hostSteps, startHost } from '../../host/host';
import { Steps } from '../../host/steps';
import { dataFolderOf, hostFolder, START_TIMEOUT, useHost } from './host';
import { example } from './workflows';

/*
 * Whatever a user changed, the next start keeps it, and comes up.
 */

const host = useHost('kept-work');

test('an archived example and a credential of another service stay as they are', async () => {
	const { api, sandbox } = host;
	expect(api.isNew).toBe(true);
	const { id } = example(host, firstExample);
	await api.call('POST', `/rest/workflows/${id}/archive`, {});
	const data = { baseUrl: 'https://jobs.example.com', userName: 'ann', password: 'b' };
	await api.saveCredential({ name: credentialName, type: 'jobOrchestrationApi', data });

	await saveCredential(api, sandbox);
	const examples = await saveExamples(api, join(__dirname, '../../examples'));
	expect(examples.get(firstExample)).toMatchObject({ id, isArchived: true });
	const credential = await api.credentialData(credentialName, 'jobOrchestrationApi');
	expect(credential).toMatchObject({ baseUrl: 'https://jobs.example.com', userName: 'ann' });
});

test(
	"n8n starts also if its owner's password was changed",
	async () => {
		const passwords = { currentPassword: host.owner.password, newPassword: 'Another1Password' };
		await host.api.call('PATCH', '/rest/me/password', passwords);
		await host.stop();
		const dataFolder = dataFolderOf('kept-work');
		const steps = new Steps(hostSteps);
		Object.assign(host, await startHost({ hostFolder, dataFolder, port: 0, steps }));
		expect(host).toMatchObject({ api: { isNew: false }, notBroughtIn: expect.any(String) });
		expect(host.notBroughtIn).toContain('/rest/login');
	},
	START_TIMEOUT,
);
