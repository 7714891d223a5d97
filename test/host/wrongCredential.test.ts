import { credentialData, credentialType } from '../../host/credential';
import { freePort } from '../../host/ports';
import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { useHost } from './host';

/*
 * When a credential is saved, n8n tests it. The result says what is wrong with it, in the node's own words.
 */

const host = useHost('wrongCredential');

const unreachable = /^The service at (http\S+) can't be reached\. Check the 'Base URL'/;
const listFails = (reason: string) => new RegExp(`^The login works, but ${reason}`, 's');
const page: Fault = { kind: 'html', when: 'beforeActing', status: 200 };

const wrongUrls: Array<[what: string, (url: string) => string | Promise<string>, says: RegExp]> = [
	['the host is mistyped', () => 'http://jobs.example.invalid', unreachable],
	['nothing listens at the port', async () => `http://127.0.0.1:${await freePort()}`, unreachable],
	[
		'the scheme is https, and the service has http',
		(url) => url.replace('http:', 'https:'),
		/https?:\/\/.*'Base URL'/s,
	],
	['the scheme is ftp', (url) => url.replace('http:', 'ftp:'), /'?Base URL'?.*https?:\/\//s],
	[
		'the Base URL has a path that does not exist',
		(url) => `${url}/orchestration`,
		/\/orchestration\/oauth\/login.*Check the 'Base URL'/s,
	],
	[
		'the Base URL contains the path of the login',
		(url) => `${url}/oauth/login`,
		/'Base URL'.*before \/oauth\/login/s,
	],
];

const wrongAnswers: Array<[what: string, 'login' | 'listClusters', Fault, says: RegExp]> = [
	[
		'a gateway answers 401 to each address that it does not know',
		'login',
		answer(401, { message: 'Full authentication is required' }),
		/^The service refused the login: .*Check 'Username', 'Password' and 'Base URL'/s,
	],
	['a page comes instead of the login', 'login', page, /a web page|an HTML page/i],
	[
		'a page comes instead of the list',
		'listClusters',
		page,
		listFails('the service answered with an HTML page'),
	],
	[
		'the list is answered with 500',
		'listClusters',
		answer(500, { message: 'No database' }),
		listFails('.*No database'),
	],
	[
		'the list is redirected',
		'listClusters',
		{ kind: 'redirect', location: '/elsewhere' },
		listFails('the service redirects'),
	],
	[
		'the list is answered with 400 and words',
		'listClusters',
		answer(400, { message: 'Accept the terms first' }),
		listFails('.*Accept the terms first'),
	],
];

/** The sentences and names of statuses that n8n shows in place of a text. */
const ofN8n =
	/server closed the connection|connection refused|connection cannot be established|Connection successful|Couldn.t connect|check your credentials|^(Found|Bad Request|Unauthorized|Forbidden|Not Found|Internal Server Error)$/i;

/** Tests the credential with this Base URL, and expects a failure that says what is wrong. */
async function expectTestToSay(says: RegExp, baseUrl = host.sandbox.url): Promise<void> {
	const data = { ...credentialData(host.sandbox), baseUrl };
	const { status, message } = await host.api.call<{ status: string; message: string }>(
		'POST',
		'/rest/credentials/test',
		{ credentials: { ...host.credential, type: credentialType, data } },
	);
	expect(status).toBe('Error');
	expect(message).toMatch(says);
	expect(message).not.toMatch(ofN8n);
	// More than one try to log in could lock the account.
	const logins = host.sandbox.calls.filter(({ operation }) => operation === 'login');
	expect(logins.length).toBeLessThanOrEqual(1);
}

test.each(wrongUrls)('the test of the credential says that %s', async (_, change, says) => {
	await expectTestToSay(says, await change(host.sandbox.url));
});

test.each(wrongAnswers)(
	'the test of the credential says that %s',
	async (_, where, fault, says) => {
		host.sandbox.faults.plan(({ operation }) => (operation === where ? fault : undefined));
		await expectTestToSay(says);
	},
);
