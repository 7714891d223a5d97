import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';

import { freePort } from '../../host/ports';
import { startSandbox, type NewJob, type Sandbox } from '../../sandbox';
import { Client, messageOf, send, smallestJob, until } from './client';
import { states } from './states';

/*
 * The template call-when-done: its job calls an address on this machine when it has succeeded. It stands for
 * what a job's own template can do at its end.
 */

let sandbox: Sandbox;
let client: Client;
let server: Server;
let address: string;

let called: Array<{ method: string | undefined; url: string | undefined; body: unknown }>;

/** What the next calls are answered: a status, or a page; 200 after those. */
let answers: Array<number | string>;

beforeEach(async () => {
	sandbox = await startSandbox();
	client = new Client(sandbox);
	await client.login();
	called = [];
	answers = [];
	server = createServer((request, response) => {
		void json(request).then((body) => {
			called.push({ method: request.method, url: request.url, body });
			const answer = answers.shift() ?? 200;
			if (typeof answer === 'string') response.setHeader('content-type', 'text/html').end(answer);
			else response.writeHead(answer, { location: `${address}/elsewhere` }).end();
		});
	});
	const port = await freePort();
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	address = `http://127.0.0.1:${port}`;
});
afterEach(async () => {
	await sandbox.close();
	server.closeAllConnections();
	server.close();
});

function jobThatCalls(callbackUrl: string, seconds = '0'): NewJob {
	const inputs = Object.entries({ seconds, callbackUrl }).map(([id, value]) => ({
		id,
		default: value,
	}));
	return { ...smallestJob, workflow: { uid: 'call-when-done' }, inputs };
}

it('A job of the template calls the address in its input when it has succeeded, with what it brings', async () => {
	const { metadata } = await client.createdJob({
		...jobThatCalls(`${address}/hook?signature=abc&job=1`),
		outputs: [{ id: 'report' }, { id: 'format', default: 'pdf' }],
	});
	await until(() => called.length === 1);
	const body = {
		jobId: metadata.uid,
		displayName: 'Nightly report',
		state: 'succeeded',
		outputs: { report: 'report of Nightly report', format: 'pdf' },
	};
	expect(called).toEqual([{ method: 'POST', url: '/hook?signature=abc&job=1', body }]);
});

it.each(['suspend', 'stop', 'terminate'] as const)('It makes no call after %s', async (verb) => {
	const { uid } = (await client.createdJob(jobThatCalls(`${address}/first`, '0.1'))).metadata;
	await client.change(verb, uid);
	await client.createdJob(jobThatCalls(`${address}/later`, '0.2'));
	await until(() => called.length > 0);
	expect(called).toMatchObject([{ url: '/later' }]);
	if (verb === 'suspend') {
		await client.change('resume', uid);
		await until(() => called.length === 2);
	} else {
		const { body } = await send(`${sandbox.url}/page/jobs/${uid}`);
		expect(body).toMatchObject({ callback: `Makes no call, since it was ${states[verb].to}` });
	}
});

it.each([
	['is refused', [409, 500]],
	['is answered with a page, as by an n8n that is starting', ['n8n is starting up', 200]],
	['is redirected', [307, 302]],
])('It calls the same address again where the call %s', async (_what, first) => {
	answers = first;
	await client.createdJob(jobThatCalls(`${address}/hook`));
	await until(() => called.length === first.length);
	expect(new Set(called.map(({ url }) => url))).toEqual(new Set(['/hook']));
});

it.each([
	['https://127.0.0.1/'],
	['http://10.0.0.1/'],
	['http://127.0.0.1.example.com/'],
	['http://127.0.0.1@example.com/'],
	['webhook-waiting/1'],
	['http://127.0.0.1/', 'soon'],
])('A job that is to call %s after %s seconds is refused', async (url, seconds = '0') => {
	const answer = await client.create(jobThatCalls(url, seconds));
	expect(answer.status).toBe(400);
	expect(messageOf(answer)).toMatch(
		seconds === '0'
			? /'callbackUrl' must be an address on this machine/
			: /'seconds' must be a number/,
	);
	expect(sandbox.store.jobs.size).toBe(0);
});
