import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WorkflowNode } from '../../host/api';
import { inARow, jobNode, manualTrigger } from '../../host/workflow';
import { startSandbox, type Sandbox } from '../../sandbox';
import { smallestJob } from '../sandbox/client';
import { runToEnd, useHost, type Ended } from './host';
import { planCreates } from './workflows';

/*
 * In a real n8n, the test of the credential and every run use the edited values at once, and n8n's HTTP Request node
 * sends no POST again that the service may have carried out.
 */

const host = useHost('Edited credential', { password: `pass-${randomUUID()}` });
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

type Form = Record<string, unknown>;

/** Returns the credential as its form gets it, with blanked secrets. */
async function form(): Promise<{ id: string; name: string; type: string; data: Form }> {
	return await host.api.call('GET', `/rest/credentials/${host.credential.id}?includeData=true`);
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

/** Runs one node. */
async function run({ parameters = {}, ...more }: Partial<WorkflowNode>): Promise<Ended> {
	const node = jobNode('Node', parameters, more);
	return await runToEnd(host, inARow('One node', [manualTrigger(), node]));
}

const operations = ({ calls }: Sandbox) => calls.map(({ operation }) => operation);
const tokensAt = ({ calls }: Sandbox) =>
	new Set(calls.flatMap(({ token }) => (token === undefined ? [] : [token])));

describe.each<
	[by: string, outcomeOf: (change: Form) => Promise<{ status: string; message: string }>]
>([
	['its test', tested],
	[
		'a run',
		async (change) => {
			await edit(change);
			const { status, error = '' } = await run(getMany);
			return { status, message: error };
		},
	],
])('An edited credential, in %s,', (by, outcomeOf) => {
	test('is used for a login, and the old token is not sent', async () => {
		const { message } = await outcomeOf({ password: `mistyped in ${by}` });
		expect(message).toContain('The username or the password is wrong');
		expect(operations(host.sandbox)).toEqual(['login']);
	});

	test('does not send the token of the old address to a new one', async () => {
		await run(getMany);
		const old = tokensAt(host.sandbox);
		expect(old.size).toBe(1);
		const { url: baseUrl, userName, password } = other;
		const { status } = await outcomeOf({ baseUrl, userName, password });
		expect(status).toMatch(/^(OK|success)$/);
		expect(tokensAt(other).size).toBe(1);
		expect([...tokensAt(other)].filter((token) => old.has(token))).toEqual([]);
	});
});

test('The test of an unchanged credential logs in, and the run after it does not', async () => {
	expect((await tested({})).status).toBe('OK');
	expect((await run(getMany)).status).toBe('success');
	// The test asks for the list itself, and n8n sends the request of the test after it.
	const ofTest = ['login', 'listClusters', 'listClusters'];
	expect(operations(host.sandbox)).toEqual([...ofTest, 'listClusters']);
});

test("n8n's database contains neither the password nor a token in plain text", async () => {
	const folder = join(host.dataFolder, 'n8n', '.n8n');
	const files = (await readdir(folder)).filter((name) => name.startsWith('database.sqlite'));
	const contents = await Promise.all(files.map(async (name) => await readFile(join(folder, name))));
	const isStored = (text: string) => contents.some((content) => content.includes(text));
	expect(isStored(host.credential.name)).toBe(true);
	await run(getMany);
	const secrets = [host.sandbox.password, ...tokensAt(host.sandbox)];
	expect(secrets).toHaveLength(2);
	expect(secrets.filter(isStored)).toEqual([]);
});

describe("n8n's HTTP Request node", () => {
	const post = (options: Form = {}): Partial<WorkflowNode> => ({
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'jobOrchestrationApi',
			method: 'POST',
			url: `${host.sandbox.url}/api/v1/namespaces/default/jobs`,
			...{ sendBody: true, specifyBody: 'json' },
			jsonBody: JSON.stringify({ namespace: 'default', job: smallestJob }),
			options,
		},
	});

	test('sends a POST once that ends in a time-out', async () => {
		planCreates(host.sandbox, { 1: { kind: 'stall', when: 'afterActing' } });
		expect((await run(post({ timeout: 1_000 }))).status).toBe('error');
		expect(operations(host.sandbox)).toEqual(['createJob']);
	});

	test('sends it once more if its token was rejected', async () => {
		host.sandbox.tokens.expireAll();
		expect((await run(post())).status).toBe('success');
		expect(operations(host.sandbox)).toEqual(['createJob', 'listClusters', 'login', 'createJob']);
	});
});
