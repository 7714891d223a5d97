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

describe('What the contract does not allow is refused with a 400 that names the field', () => {
	const withJob = (change: object): object => ({
		namespace: 'default',
		job: { ...smallestJob, ...change },
	});

	it.each([
		[{ namespace: 'default', job: [] }, 'body/job must be object'],
		[{ ...withJob({}), extra: 1 }, 'body must NOT have additional properties: extra'],
		[withJob({ displayName: '' }), 'body/job/displayName must NOT have fewer than 1 characters'],
		[withJob({ priority: '3' }), 'body/job/priority must be number'],
		[withJob({ retryOption: { maxRetry: 1 } }), 'must NOT have additional properties: maxRetry'],
		[withJob({ inputs: [{}, { default: 5 }] }), 'body/job/inputs/1/default must be string'],
		[withJob({ workCluster: 'wc-9' }), "body/job/workCluster: there is no cluster 'wc-9'"],
		[{ ...withJob({}), namespace: 'other' }, "body/namespace is 'other'"],
		[withJob({ namespace: 'other' }), "body/job/namespace is 'other'"],
		[undefined, 'body must be object'],
		['{"namespace":', 'Body is not valid JSON'],
		[{ job: {} }, "property 'namespace'; body/job must have required property 'displayName'"],
	])('a job: %j', async (body, message) => {
		const answer = await client.createRaw(body);
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
		expect(sandbox.store.jobs.size).toBe(0);
	});

	it.each([
		['ListOption.limit=0', 'querystring/ListOption.limit must be >= 1'],
		['ListOption.limit=2.5', 'querystring/ListOption.limit must be integer'],
		['ListOption.continue=', 'querystring/ListOption.continue must NOT have fewer than 1'],
		['ListOption.continue=abc', 'querystring/ListOption.continue is not a token'],
		['limit=5', 'querystring must NOT have additional properties: limit'],
	])('a list with %s', async (query, message) => {
		const answer = await client.list(`?${query}`);
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
	});

	it.each([
		['jobs/a/pause', 'params/status must be equal to one of the allowed values: suspend, resume'],
		['jobs//stop', 'params/jobid must NOT have fewer than 1 characters'],
		['jobs/%zz/stop', 'is not percent-encoded properly'],
	])('a state change: %s', async (path, message) => {
		const url = `${sandbox.url}/api/v1/namespaces/default/${path}`;
		const answer = await send(url, { method: 'PUT', token: client.token });
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
	});

	it('a state change with a body', async () => {
		const url = `${sandbox.url}/api/v1/namespaces/default/jobs/job-1/stop`;
		const answer = await send(url, { method: 'PUT', token: client.token, body: {} });
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toBe('body is not expected, this call takes none');
	});
});

describe('What the contract allows is taken', () => {
	it('a namespace and a password that are numbers', async () => {
		expect((await client.login({ userName: 'demo', password: 1234, type: 'basic' })).status).toBe(
			200,
		);
		const body = { namespace: 42, job: { ...smallestJob, namespace: 42 } };
		expect((await client.createRaw(body, '42')).status).toBe(200);
	});

	it('a state change without a body that says its body is JSON', async () => {
		const { uid } = (await client.createdJob()).metadata;
		const answer = await send(`${sandbox.url}/api/v1/namespaces/default/jobs/${uid}/stop`, {
			method: 'PUT',
			token: client.token,
			headers: { 'content-type': 'application/json' },
		});
		expect(answer.status).toBe(200);
	});

	it('any text as an id, however long and strange, and it comes back as it was', async () => {
		const namespace = `a/b ?#%é😀${'x'.repeat(3000)}`;
		const body = { namespace, job: smallestJob };
		const answer = await client.createRaw(body, encodeURIComponent(namespace));
		expect(answer.body).toMatchObject({ metadata: { namespace } });
	});
});

it('A body that is not JSON is refused with 415', async () => {
	const type = 'application/x-www-form-urlencoded';
	const sent = { method: 'POST', body: 'userName=demo', headers: { 'content-type': type } };
	const answer = await send(`${sandbox.url}/oauth/login`, sent);
	expect(answer.status).toBe(415);
	expect(messageOf(answer)).toContain(type);
});

it.each([
	['GET', '/oauth/login'],
	['DELETE', '/api/v1/clusters'],
	['GET', '/api/v2/clusters'],
	['POST', '/'],
])('A call that the contract does not have is a 404: %s %s', async (method, path) => {
	const answer = await send(sandbox.url + path, { method });
	expect(answer.status).toBe(404);
	expect(messageOf(answer)).toBe(`There is no call ${method} ${path}`);
	expect(sandbox.calls).toMatchObject([{ operation: 'unknown', method, path, status: 404 }]);
});
