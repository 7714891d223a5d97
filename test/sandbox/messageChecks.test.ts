import { startSandbox, type Sandbox } from '../../sandbox';
import { Client, messageOf, send, smallestJob } from './client';

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox({ password: '1234' });
	client = new Client(sandbox);
	await client.login();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.clearCalls());

const withJob = (change: object): object => ({
	namespace: 'default',
	job: { ...smallestJob, ...change },
});
const jobs = '/api/v1/namespaces/default/jobs';

it.each<[string, string, unknown, string]>([
	['POST', jobs, { ...withJob({}), extra: 1 }, 'body must NOT have additional properties: extra'],
	['POST', jobs, withJob({ priority: '3' }), 'body/job/priority must be number'],
	['POST', jobs, withJob({ workCluster: 'wc-9' }), "there is no cluster 'wc-9'"],
	['POST', jobs, withJob({ namespace: 'other' }), "body/job/namespace is 'other'"],
	['POST', jobs, '{"namespace":', 'Body is not valid JSON'],
	['GET', '/api/v1/clusters?ListOption.limit=0', undefined, 'ListOption.limit must be >= 1'],
	[
		'GET',
		'/api/v1/clusters?ListOption.continue=abc',
		undefined,
		'ListOption.continue is not a token',
	],
	['PUT', `${jobs}/a/pause`, undefined, 'params/status must be equal to one of the allowed values'],
	['PUT', `${jobs}/%zz/stop`, undefined, 'is not percent-encoded properly'],
	['PUT', `${jobs}/job-1/stop`, {}, 'body is not expected, this call takes none'],
])(
	'%s %s with %j is refused with a 400 that names what is wrong',
	async (method, path, body, message) => {
		const answer = await send(sandbox.url + path, { method, body, token: client.token });
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
		expect(sandbox.store.jobs.size).toBe(0);
	},
);

it.each([
	['POST', '/oauth/login', 415, 'body must be application/json'],
	['GET', '/oauth/login', 404, 'There is no call GET /oauth/login'],
	['GET', '/api/v2/clusters', 404, 'There is no call GET /api/v2/clusters'],
])('%s %s, of no kind that the contract has, is a %i', async (method, path, status, message) => {
	const headers = { 'content-type': 'application/x-www-form-urlencoded' };
	const sent = method === 'POST' ? { method, headers, body: 'userName=demo' } : { method };
	const answer = await send(sandbox.url + path, sent);
	expect(answer.status).toBe(status);
	expect(messageOf(answer)).toContain(message);
});

it('What the contract allows is taken: numbers as namespace and password, any text as an id', async () => {
	const login = { userName: 'demo', password: 1234, type: 'basic' };
	expect((await client.login(login)).status).toBe(200);
	const numbered = { namespace: 42, job: { ...smallestJob, namespace: 42 } };
	expect((await client.createRaw(numbered, '42')).status).toBe(200);
	const namespace = `a/b ?#%é😀${'x'.repeat(3000)}`;
	const body = { namespace, job: smallestJob };
	const answer = await client.createRaw(body, encodeURIComponent(namespace));
	expect(answer.body).toMatchObject({ metadata: { namespace } });
});
