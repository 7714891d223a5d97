import type { N8nApi } from '../../host/api';
import { sandboxCredential } from '../../host/credential';
import { freePort } from '../../host/ports';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';
import { answer } from '../support/answer';
import { CredentialForm, type Entries } from './credentialForm';
import { takePictures } from './images';
import { useStage } from './stage';

/*
 * The form of the credential tests the entries, and says what is wrong with them, in the node's own words.
 */

const it = useStage();

/** Returns the right entries for a sandbox. */
const entriesFor = ({ url: baseUrl, userName, password }: Sandbox): Entries => ({
	...{ baseUrl, userName, password },
});

/** An entry, or a service, with which something is wrong. */
interface Wrong {
	what: string;
	/** Changed entries, made from the right ones. */
	entries?: (right: Entries) => Partial<Entries> | Promise<Partial<Entries>>;
	/** What the login or the list is answered with. */
	login?: Fault;
	list?: Fault;
	/** What the form says. */
	says: RegExp;
}

const unreachable = /^The service at (http\S+) can't be reached\. Check the 'Base URL'/;
const refusedLogin =
	/^The service refused the login: .*Check 'Username', 'Password' and 'Base URL'/s;
const listFails = (reason: string) => new RegExp(`^The login works, but ${reason}`, 's');
const page: Fault = { kind: 'html', when: 'beforeActing', status: 200 };

const wrongs: Wrong[] = [
	{
		what: 'the password is wrong',
		entries: () => ({ password: 'a wrong one' }),
		says: /^The service refused the login: The username or the password is wrong\..*The node tried to log in only once/s,
	},
	{
		what: 'the host is mistyped',
		entries: () => ({ baseUrl: 'http://jobs.example.invalid' }),
		says: unreachable,
	},
	{
		what: 'nothing listens at the port',
		entries: async () => ({ baseUrl: `http://127.0.0.1:${await freePort()}` }),
		says: unreachable,
	},
	{
		what: 'the scheme is https, and the service has http',
		entries: ({ baseUrl }) => ({ baseUrl: baseUrl.replace('http:', 'https:') }),
		says: /https?:\/\/.*'Base URL'/s,
	},
	{
		what: 'the scheme is ftp',
		entries: ({ baseUrl }) => ({ baseUrl: baseUrl.replace('http:', 'ftp:') }),
		says: /'?Base URL'?.*https?:\/\//s,
	},
	{
		what: 'the Base URL has a path that does not exist',
		entries: ({ baseUrl }) => ({ baseUrl: `${baseUrl}/orchestration` }),
		says: /\/orchestration\/oauth\/login.*Check the 'Base URL'/s,
	},
	{
		what: 'the Base URL contains the path of the login',
		entries: ({ baseUrl }) => ({ baseUrl: `${baseUrl}/oauth/login` }),
		says: /'Base URL'.*before \/oauth\/login/s,
	},
	{
		what: 'a gateway answers 401 to each address that it does not know',
		login: answer(401, { message: 'Full authentication is required' }),
		says: refusedLogin,
	},
	{
		what: 'a page comes instead of the login',
		login: page,
		says: /a web page|an HTML page/i,
	},
	{
		what: 'a page comes instead of the list',
		list: page,
		says: listFails('the service answered with an HTML page'),
	},
	{
		what: 'the list is answered with 500',
		list: answer(500, { message: 'No database' }),
		says: listFails('.*No database'),
	},
	{
		what: 'the list is redirected',
		list: { kind: 'redirect', location: '/elsewhere' },
		says: listFails('the service redirects'),
	},
	{
		what: 'the list is answered with 400 and words',
		list: answer(400, { message: 'Accept the terms first' }),
		says: listFails('.*Accept the terms first'),
	},
];

/** The sentences and names of statuses that n8n shows in place of a text. */
const ofN8n =
	/server closed the connection|connection refused|connection cannot be established|Connection successful|Couldn.t connect|check your credentials|^(Found|Bad Request|Unauthorized|Forbidden|Not Found|Internal Server Error)$/i;

describe('the form of the credential', () => {
	it('says in plain words that the entries are right, or what is wrong with the certificate', async ({
		page: browser,
		sandbox,
		api,
		atEnd,
	}) => {
		const form = new CredentialForm(browser);
		atEnd(async () => await forgetAllBut(sandboxCredential.name, api));
		const right = entriesFor(sandbox);
		await browser.setViewportSize({ width: 1280, height: 1000 });
		await form.openNew('Job Orchestration');

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
		await takePictures(browser, 'credential', [form.dialog]);
	});

	it("says in the node's own words what is wrong with the other entries, or with the service", async ({
		page: browser,
		sandbox,
		api,
		atEnd,
	}) => {
		const form = new CredentialForm(browser);
		atEnd(async () => await forgetAllBut(sandboxCredential.name, api));
		const right = entriesFor(sandbox);
		await form.openNew('Job Orchestration');
		const said: Array<[what: string, says: string]> = [];
		/** Whether each test has tried to log in only once. More than once could lock the account. */
		const triedOnce: boolean[] = [];
		for (const [n, { what, entries, login, list }] of wrongs.entries()) {
			sandbox.faults.plan(({ operation }) =>
				operation === 'login' ? login : operation === 'listClusters' ? list : undefined,
			);
			sandbox.clearCalls();
			// Without a change, the form can't be saved. A slash at the end changes nothing else.
			const baseUrl = `${right.baseUrl}${n % 2 === 0 ? '' : '/'}`;
			await form.fill({ ...right, baseUrl, ...(await entries?.(right)) });
			said.push([what, await form.saveAndFail()]);
			const logins = sandbox.calls.filter(({ operation }) => operation === 'login');
			triedOnce.push(logins.length <= 1);
		}
		expect(said).toEqual(
			wrongs.map(({ what, says }) => [what, expect.stringMatching(says) as unknown]),
		);
		expect(said.filter(([, says]) => ofN8n.test(says))).toEqual([]);
		expect(triedOnce).not.toContain(false);
	});
});

/** Deletes all other credentials. If there is only one, n8n chooses it by itself, on which the other tests rely. */
async function forgetAllBut(kept: string, api: N8nApi): Promise<void> {
	const all = await api.call<Array<{ id: string; name: string }>>('GET', '/rest/credentials');
	for (const { id, name } of all) {
		if (name !== kept) await api.call('DELETE', `/rest/credentials/${id}`);
	}
}
