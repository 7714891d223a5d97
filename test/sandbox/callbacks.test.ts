import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

import { freePort } from '../../host/ports';
import { startSandbox, type NewJob, type Sandbox } from '../../sandbox';
import { Client, messageOf, send, smallestJob, until } from './client';
import { states, verbs } from './states';

/*
 * The template call-when-done: its job calls an address on this machine when it has succeeded. It stands for
 * what a job's own template can do at its end.
 */

let sandbox: Sandbox;
let client: Client;
let server: Server;
let address: string;

/** What was called, with the parsed body. */
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
		let text = '';
		request.setEncoding('utf8').on('data', (part: string) => (text += part));
		request.on('end', () => {
			called.push({ method: request.method, url: request.url, body: JSON.parse(text) });
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

function jobThatCalls(callbackUrl: string | undefined, seconds = '0'): NewJob {
	const inputs = [{ id: 'seconds', default: seconds }];
	if (callbackUrl !== undefined) inputs.push({ id: 'callbackUrl', default: callbackUrl });
	return { ...smallestJob, workflow: { uid: 'call-when-done' }, inputs };
}

/** What the page says of a job's call. */
const callbackOf = async (uid: string): Promise<unknown> =>
	((await send(`${sandbox.url}/page/jobs/${uid}`)).body as { callback: unknown }).callback;

async function untilSaid(uid: string, said: string): Promise<void> {
	for (;;) {
		if ((await callbackOf(uid)) === said) return;
	}
}

describe('A job of the template', () => {
	it('calls the address in its input when it has succeeded, with what it brings', async () => {
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
		await untilSaid(metadata.uid, `Called ${new URL(address).host} once: the answer was 200`);
	});

	it('makes no call while it is suspended, but when it has succeeded after that', async () => {
		const { metadata } = await client.createdJob(jobThatCalls(`${address}/suspended`, '0.1'));
		await client.change('suspend', metadata.uid);
		await client.createdJob(jobThatCalls(`${address}/later`, '0.2'));
		await until(() => called.length === 1);
		await client.change('resume', metadata.uid);
		await until(() => called.length === 2);
		expect(called.map(({ url }) => url)).toEqual(['/later', '/suspended']);
	});

	const finalVerbs = verbs.filter((verb) =>
		verbs.every((other) => states[other].from !== states[verb].to),
	);

	it.each(finalVerbs)('makes no call after %s', async (verb) => {
		const { metadata } = await client.createdJob(jobThatCalls(address, '0.1'));
		await client.change(verb, metadata.uid);
		await client.createdJob(jobThatCalls(`${address}/later`, '0.2'));
		await until(() => called.length > 0);
		expect(called).toMatchObject([{ url: '/later' }]);
		const said = `Makes no call, since it was ${states[verb].to}`;
		expect(await callbackOf(metadata.uid)).toBe(said);
	});

	it.each([
		['is refused', [409, 500]],
		['is answered with a page, as by an n8n that is starting', ['n8n is starting up', 200]],
		['is redirected', [307, 302]],
	])('calls the same address again where the call %s', async (_what, first) => {
		answers = first;
		await client.createdJob(jobThatCalls(`${address}/hook`));
		await until(() => called.length === first.length);
		expect(new Set(called.map(({ url }) => url))).toEqual(new Set(['/hook']));
	});
});

it.each([
	['https://n8n.example.com/webhook-waiting/1'],
	['http://n8n.example.com/'],
	['http://10.0.0.1/'],
	['http://0.0.0.0/'],
	['http://127.0.0.1.example.com/'],
	['http://127.0.0.1@example.com/'],
	['https://127.0.0.1/'],
	['webhook-waiting/1'],
	[undefined],
	['http://127.0.0.1/', 'soon'],
	['http://127.0.0.1/', '86401'],
])('A job that is to call %s after %s seconds is refused', async (url, seconds = '0') => {
	const answer = await client.create(jobThatCalls(url, seconds));
	expect(answer.status).toBe(400);
	expect(messageOf(answer)).toMatch(
		seconds === '0'
			? /^body\/job\/inputs: 'callbackUrl' must be an address on this machine, .* calls no other$/
			: /^body\/job\/inputs: 'seconds' must be a number from 0 to 86400, not /,
	);
	expect(sandbox.store.jobs.size).toBe(0);
});

it('A job of any other template makes no call, whatever its inputs are', async () => {
	const job = { ...jobThatCalls('http://n8n.example.com/'), workflow: { uid: 'wf-report' } };
	const { metadata } = await client.createdJob(job);
	expect(await callbackOf(metadata.uid)).toBeNull();
});
