import type { N8nApi } from '../../host/api';
import { sandboxCredential } from '../../host/credential';
import { startSandbox } from '../../sandbox';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';
import { CredentialForm } from './credentialForm';
import { takePictures } from './images';
import { useStage } from './stage';

/*
 * The form of the credential tests the entries, and says what is wrong with them.
 */

const it = useStage();

describe('the form of the credential', () => {
	it('says in plain words what is wrong or right', async ({ page, sandbox, api, atEnd }) => {
		const form = new CredentialForm(page);
		atEnd(async () => await forgetAllBut(sandboxCredential.name, api));
		const right = {
			baseUrl: sandbox.url,
			userName: sandbox.userName,
			password: sandbox.password,
		};
		await page.setViewportSize({ width: 1280, height: 1000 });
		await form.openNew('Job Orchestration');

		await form.fill({ ...right, password: 'a wrong one' });
		expect(await form.saveAndFail()).toBe(
			`The username or the password is wrong. Correct it in the credential. The node tried to log in only once, so that the account isn't locked. The service says: {"code":"wrong_password","message":"The username or the password is wrong"} POST ${sandbox.url}/oauth/login was answered with HTTP 401.`,
		);
		expect(sandbox.calls.filter(({ operation }) => operation === 'login')).toHaveLength(1);

		const signedByItself = await startSandbox({ tls: selfSignedCertificate });
		atEnd(async () => await signedByItself.close());
		await form.fill({ ...right, baseUrl: signedByItself.url });
		expect(await form.saveAndFail()).toContain(
			`The certificate of ${signedByItself.url} isn't trusted. Have the certificate renewed if it has expired, use a host name that it is for as the 'Base URL', or make n8n trust its issuer (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.`,
		);
		expect(signedByItself.calls).toEqual([]);
		await form.field('ignoreSslIssues').locator('.el-switch').click();
		await form.saveAndSucceed();

		await form.field('ignoreSslIssues').locator('.el-switch').click();
		await form.fill(right);
		await form.saveAndSucceed();
		await takePictures(page, 'credential', [form.dialog]);
	});
});

/** Deletes all other credentials. If there is only one, n8n chooses it by itself, on which the other tests rely. */
async function forgetAllBut(kept: string, api: N8nApi): Promise<void> {
	const all = await api.call<Array<{ id: string; name: string }>>('GET', '/rest/credentials');
	for (const { id, name } of all) {
		if (name !== kept) await api.call('DELETE', `/rest/credentials/${id}`);
	}
}
