import { startSandbox, type Sandbox } from '../../sandbox';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';
import { CredentialForm, type Entries } from './credentialForm';
import { takePictures } from './images';
import { useStage } from './stage';

/*
 * The form of the credential tests the entries, and says what is wrong with them, in the node's own words.
 * test/host/wrongCredential.test.ts has all that can be wrong.
 */

const it = useStage();
let signedByItself: Sandbox;
beforeAll(async () => {
	signedByItself = await startSandbox({ tls: selfSignedCertificate });
});
afterAll(async () => await signedByItself.close());

/** Returns the right entries for a sandbox. */
const entriesFor = ({ url: baseUrl, userName, password }: Sandbox): Entries => ({
	...{ baseUrl, userName, password },
});

describe('the form of the credential', () => {
	it('says in plain words that the entries are right, or what is wrong with the password or the certificate', async ({
		page,
		sandbox,
	}) => {
		const form = new CredentialForm(page);
		const right = entriesFor(sandbox);
		await page.setViewportSize({ width: 1280, height: 1000 });
		await form.openNew('Job Orchestration');
		await form.fill({ ...right, password: 'a wrong one' });
		expect(await form.saveAndFail()).toContain('The username or the password is wrong.');

		await form.fill({ ...right, baseUrl: signedByItself.url });
		expect(await form.saveAndFail()).toContain(
			`The certificate of ${signedByItself.url} isn't trusted. Have the certificate renewed if it has expired, use a host name that it is for as the 'Base URL', or make n8n trust its issuer (NODE_EXTRA_CA_CERTS). If you accept the risk, turn on 'Ignore SSL Issues (Insecure)' in the credential.`,
		);
		expect(signedByItself.calls).toEqual([]);
		await form.field('ignoreSslIssues').locator('.el-switch').click();
		await form.fill({ password: signedByItself.password });
		await form.saveAndSucceed();

		await form.field('ignoreSslIssues').locator('.el-switch').click();
		await form.fill(right);
		await form.saveAndSucceed();
		await takePictures(page, 'credential', [form.dialog]);
	});
});
