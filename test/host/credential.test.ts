import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WorkflowNode } from '../../host/api';
import { inARow, jobNode, manualTrigger } from '../../host/workflow';
import type { Fault, Sandbox } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { actAndAnswer } from '../support/answer';
import { runToEnd, useHost } from './host';
import { running } from './setUp';

/*
 * In a real n8n, the test of the credential and every run use the edited values at once, and n8n's HTTP Request node
 * sends no POST again that the service may have carried out.
 */

const host = useHost('credential');
let other: Sandbox;

beforeAll(async () => {
	other = await startSandbox({ userName: 'ann', password: 'of the other service' });
});
afterAll(async () => await other.close());

beforeEach(async () => {
	const { url, userName, password } = host.sandbox;
	await edit({ baseUrl: url, userName, password });
	await run(getMany);
	host.sandbox.clearCalls();
	other.clearCalls();
});
afterEach(() => {
	host.sandbox.faults.clear();
});

type Form = Record<string, unknown>;

/** Returns the credential as its form gets it, with blanked secrets. */
async function form(): Promise<{ id: string; name: string; type: string; data: Form }> {
	const all = await host.api.call<Array<{ id: string; name: string }>>('GET', '/rest/credentials');
	const { id } = all.find(({ name }) => name === host.credential) ?? {};
	return await host.api.call('GET', `/rest/credentials/${id}?includeData=true`);
}

/** Saves the credential with these changes, as its form does. */
async function edit(change: Form): Promise<void> {
	const { id, name, type, data } = await form();
	const saved = { name, type, data: { ...data, ...change } };
	await host.api.call('PATCH', `/rest/credentials/${id}`, saved);
}

/** Returns the result of testing the credential with these changes, before it is saved. */
async function tested(change: Form): Promise<{ status: string; message: string }> {
	const { id, name, type, data } = await form();
	const credentials = { id, name, type, data: { ...data, ...change } };
	return await host.api.call('POST', '/rest/credentials/test', { credentials });
}

const getMany: Partial<WorkflowNode> = {
	parameters: { resource: 'cluster', operation: 'getAll', limit: 1 },
};

/** Returns n8n's HTTP Request node with the credential. */
const httpRequest = (parameters: Form): Partial<WorkflowNode> => ({
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.2,
	parameters: {
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'jobOrchestrationApi',
		options: {},
		...parameters,
	},
});

/**
 * Runs one node.
 *
 * @returns the status of the execution and its error
 */
async function run(node: Partial<WorkflowNode>): Promise<{ status: string; error?: string }> {
	const { name, ...more } = { name: 'Node', ...node };
	const { id } = await host.api.createWorkflow(
		inARow('One node', [manualTrigger(), jobNode(name, more.parameters ?? {}, more)]),
	);
	const ended = await runToEnd(host, id);
	const { error } = await host.api.executionResult(ended.id);
	return { status: ended.status, ...(error === undefined ? {} : { error }) };
}

const operations = ({ calls }: Sandbox) => calls.map(({ operation }) => operation);
const tokensAt = ({ calls }: Sandbox) =>
	new Set(calls.flatMap(({ token }) => (token === undefined ? [] : [token])));

describe('An edited credential', () => {
	const refused = 'The username or the password is wrong';

	test('is used by its test for a login, and the old token is not sent', async () => {
		expect(await tested({ password: 'mistyped' })).toMatchObject({
			status: 'Error',
			message: expect.stringContaining(refused),
		});
		expect(operations(host.sandbox)).toEqual(['login']);
	});

	test('is used by a run for a login', async () => {
		await edit({ password: 'mistyped as well' });
		expect(await run(getMany)).toMatchObject({
			status: 'error',
			error: expect.stringContaining(refused),
		});
		expect(operations(host.sandbox)).toEqual(['login']);
	});

	test.each(['its test', 'a run'])(
		'does not send the token of the old address to a new one, in %s',
		async (by) => {
			const before = await run(getMany);
			expect(before.status).toBe('success');
			const old = tokensAt(host.sandbox);
			const change = { baseUrl: other.url, userName: 'ann', password: 'of the other service' };
			if (by === 'a run') {
				await edit(change);
				expect((await run(getMany)).status).toBe('success');
			} else {
				expect((await tested(change)).status).toBe('OK');
			}
			expect(tokensAt(other).size).toBe(1);
			expect([...tokensAt(other)].filter((token) => old.has(token))).toEqual([]);
		},
	);

	test('that is unchanged causes a login in its test, but not in the run after it', async () => {
		expect((await tested({})).status).toBe('OK');
		expect((await run(getMany)).status).toBe('success');
		expect(operations(host.sandbox)).toEqual(['login', 'listClusters', 'listClusters']);
	});
});

test("n8n's database contains neither the password nor a token in plain text", async () => {
	const folder = join(running().dataFolder, 'n8n', '.n8n');
	const files = (await readdir(folder)).filter((name) => name.startsWith('database.sqlite'));
	const contents = await Promise.all(files.map(async (name) => await readFile(join(folder, name))));
	const isStored = (text: string) => contents.some((content) => content.includes(text));
	expect(isStored(host.credential)).toBe(true);
	await run(getMany);
	const secrets = [host.sandbox.password, ...tokensAt(host.sandbox)];
	expect(secrets).toHaveLength(2);
	expect(secrets.filter(isStored)).toEqual([]);
});

describe("n8n's HTTP Request node", () => {
	const post = (options: Form = {}) =>
		httpRequest({
			method: 'POST',
			url: `${host.sandbox.url}/api/v1/namespaces/default/jobs`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: JSON.stringify({
				namespace: 'default',
				job: {
					displayName: 'By hand',
					group: '',
					workCluster: 'wc-000001',
					workflow: { uid: 'wf' },
				},
			}),
			options,
		});
	const creates = () => operations(host.sandbox).filter((name) => name === 'createJob').length;

	test.each<[string, Fault]>([
		['500', actAndAnswer(500)],
		['a time-out', { kind: 'stall', when: 'afterActing' }],
	])('sends a POST once that ends in %s', async (_, fault) => {
		host.sandbox.faults.plan(({ operation }) => (operation === 'createJob' ? fault : undefined));
		expect((await run(post({ timeout: 1_000 }))).status).toBe('error');
		expect(creates()).toBe(1);
		expect(operations(host.sandbox)).not.toContain('login');
	});

	test('sends it once more if its token was rejected', async () => {
		host.sandbox.tokens.expireAll();
		expect((await run(post())).status).toBe('success');
		expect(operations(host.sandbox)).toEqual([
			'createJob',
			'listClusters',
			'login',
			'listClusters',
			'createJob',
		]);
	});

	test.each<[string, Form]>([
		[
			'Pagination',
			{
				pagination: {
					pagination: {
						paginationMode: 'updateAParameterInEachRequest',
						parameters: {
							parameters: [
								{ type: 'qs', name: 'ListOption.limit', value: '={{ $pageCount + 1 }}' },
							],
						},
						...{ limitPagesFetched: true, maxRequests: 2 },
					},
				},
			},
		],
		['Never Error', { response: { response: { neverError: true, fullResponse: true } } }],
	])('gets no new token with %s until Get Many gets one', async (_, options) => {
		const list = httpRequest({ url: `${host.sandbox.url}/api/v1/clusters`, options });
		host.sandbox.tokens.expireAll();
		await run(list);
		expect(operations(host.sandbox)).not.toContain('login');
		await run(getMany);
		host.sandbox.clearCalls();
		expect((await run(list)).status).toBe('success');
		expect(host.sandbox.calls.map(({ status }) => status)).not.toContain(401);
	});

	test('sends nothing above the Base URL', async () => {
		await edit({ baseUrl: `${host.sandbox.url}/below` });
		const above = await run(post());
		expect(above.error).toContain(`This credential is for ${host.sandbox.url}/below only`);
		expect(creates()).toBe(0);
	});
});
