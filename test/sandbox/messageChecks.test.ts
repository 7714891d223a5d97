import { startSandbox, type Sandbox } from '../../sandbox';
import { Client, messageOf, send, smallestJob } from './client';

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox();
	client = new Client(sandbox);
	await client.login();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.clearCalls());

describe('A job that the contract does not allow is refused with a 400 that names the field', () => {
	const withJob = (change: object): object => ({
		namespace: 'default',
		job: { ...smallestJob, ...change },
	});

	it.each([
		['no namespace', { job: smallestJob }, 'body.namespace is missing'],
		['no job', { namespace: 'default' }, 'body.job is missing'],
		['a job that is a list', { namespace: 'default', job: [] }, 'body.job must be an object'],
		['a stray field', { ...withJob({}), extra: 1 }, 'body.extra is not a field'],
		['a stray field of the job', withJob({ color: 'red' }), 'body.job.color is not a field'],
		['no display name', withJob({ displayName: undefined }), 'body.job.displayName is missing'],
		[
			'an empty display name',
			withJob({ displayName: '' }),
			'body.job.displayName must not be empty',
		],
		['no group', withJob({ group: undefined }), 'body.job.group is missing'],
		['no work cluster', withJob({ workCluster: undefined }), 'body.job.workCluster is missing'],
		['no workflow', withJob({ workflow: undefined }), 'body.job.workflow is missing'],
		['a workflow without uid', withJob({ workflow: {} }), 'body.job.workflow.uid is missing'],
		[
			'an empty workflow uid',
			withJob({ workflow: { uid: '' } }),
			'body.job.workflow.uid must not be empty',
		],
		['a priority in text', withJob({ priority: '3' }), 'body.job.priority must be a number'],
		['a priority of null', withJob({ priority: null }), 'body.job.priority must be a number'],
		[
			"maxRetry in the answer's spelling",
			withJob({ retryOption: { maxRetry: 1 } }),
			'body.job.retryOption.maxRetry is not a field',
		],
		[
			'a negative interval',
			withJob({ retryOption: { retryInterval: -1 } }),
			'body.job.retryOption.retryInterval must be 0 or more',
		],
		['inputs that are no list', withJob({ inputs: {} }), 'body.job.inputs must be a list'],
		[
			'an input with a value that is no text',
			withJob({ inputs: [{ id: 'a' }, { id: 'b', default: 5 }] }),
			'body.job.inputs[1].default must be text',
		],
		[
			'a stray field of an anchor',
			withJob({ outputs: [{ anchors: [{ target: 'x' }] }] }),
			'body.job.outputs[0].anchors[0].target is not a field',
		],
		[
			'an unknown cluster',
			withJob({ workCluster: 'wc-999999' }),
			"there is no cluster 'wc-999999'",
		],
		[
			'another namespace than the path',
			{ ...withJob({}), namespace: 'other' },
			"body.namespace is 'other'",
		],
		[
			"another namespace of the job than the path's",
			withJob({ namespace: 'other' }),
			"body.job.namespace is 'other'",
		],
		['no body', undefined, 'body must be an object'],
		['a body that is no JSON', '{"namespace":', 'body is no JSON'],
	])('%s', async (_what, body, message) => {
		const answer = await client.createRaw(body);
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
		expect(sandbox.store.jobs.size).toBe(0);
	});

	it('and everything that is wrong is said at once', async () => {
		const answer = await client.createRaw({ namespace: true, job: { group: 1 } });
		for (const field of ['body.namespace', 'body.job.group', 'body.job.displayName']) {
			expect(messageOf(answer)).toContain(field);
		}
	});
});

describe('Other calls that the contract does not allow are refused with a 400 that names the field', () => {
	it.each([
		['no password', { userName: 'demo', type: 'basic' }, 'body.password is missing'],
		[
			'another type',
			{ userName: 'a', password: 'b', type: 'token' },
			'body.type must be one of basic',
		],
		[
			'a user that is no text',
			{ userName: 1, password: 'b', type: 'basic' },
			'body.userName must be text',
		],
	])('a log-in with %s', async (_what, body, message) => {
		const answer = await client.login(body);
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
	});

	it.each([
		['?ListOption.limit=0', "query.'ListOption.limit' must be 1 or more"],
		['?ListOption.limit=2.5', "query.'ListOption.limit' must be a whole number"],
		['?ListOption.limit=ten', "query.'ListOption.limit' must be a whole number"],
		['?ListOption.limit=', "query.'ListOption.limit' must be a whole number"],
		['?ListOption.limit=1&ListOption.limit=2', "query.'ListOption.limit' must be a whole number"],
		['?ListOption.continue=', "query.'ListOption.continue' must not be empty"],
		['?ListOption.continue=abc', "query.'ListOption.continue' is not a token"],
		['?limit=5', 'query.limit is not a field'],
	])('a list with %s', async (query, message) => {
		const answer = await client.list(query);
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(message);
	});

	it('a state that is none', async () => {
		const answer = await client.change('pause', 'job-1');
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toBe('path.status must be one of suspend, resume, stop, terminate');
	});

	it('an empty id', async () => {
		const answer = await client.change('stop', '');
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toBe('path.jobid must not be empty');
	});

	it('a state change with a body', async () => {
		const { uid } = (await client.createdJob()).metadata;
		const path = `${sandbox.url}/api/v1/namespaces/default/jobs/${uid}/stop`;
		const answer = await send(path, { method: 'PUT', token: client.token, body: {} });
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toMatch(/^body is not expected/);
		expect(sandbox.store.jobs.get(uid)?.state).toBe('running');
	});

	it('a path that is not percent-encoded properly', async () => {
		const answer = await send(`${sandbox.url}/api/v1/namespaces/%zz/jobs`, { method: 'POST' });
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain('%zz');
		expect(sandbox.calls).toMatchObject([{ operation: 'unknown', status: 400 }]);
	});
});

describe('What the contract allows is taken', () => {
	it('a namespace and a password that are numbers', async () => {
		const other = await startSandbox({ password: '1234' });
		try {
			const numbers = new Client(other);
			const { userName } = other;
			expect((await numbers.login({ userName, password: 1234, type: 'basic' })).status).toBe(200);
			const body = { namespace: 42, job: { ...smallestJob, namespace: 42 } };
			expect((await numbers.createRaw(body, '42')).status).toBe(200);
		} finally {
			await other.close();
		}
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
		const answer = await client.createRaw(
			{ namespace, job: smallestJob },
			encodeURIComponent(namespace),
		);
		expect(answer.body).toMatchObject({ metadata: { namespace } });
	});
});

it('A body that is not JSON is refused with 415', async () => {
	const answer = await send(`${sandbox.url}/oauth/login`, {
		method: 'POST',
		body: 'userName=demo',
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
	});
	expect(answer.status).toBe(415);
	expect(messageOf(answer)).toContain('application/x-www-form-urlencoded');
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
