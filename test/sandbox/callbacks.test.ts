import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';

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

const callbackOf = async (uid: string): Promise<unknown> =>
	((await send(`${sandbox.url}/page/jobs/${uid}`)).body as { callback: unknown }).callback;

async function untilSaid(uid: string, said: string): Promise<void> {
	for (;;) {
		if ((await callbackOf(uid)) === said) return;
	}
}

describe('A job of the template', () => {
	it('calls the address in its input when it has succeeded, with what it brings', async () => {
		const job = await client.createdJob({
			...jobThatCalls(`${address}/hook?signature=abc&job=1`),
			outputs: [{ id: 'report' }, { id: 'format', default: 'pdf' }],
		});
		await until(() => called.length === 1);
		expect(called).toEqual([
			{
				method: 'POST',
				url: '/hook?signature=abc&job=1',
				body: {
					jobId: job.metadata.uid,
					displayName: 'Nightly report',
					state: 'succeeded',
					outputs: { report: 'report of Nightly report', format: 'pdf' },
				},
			},
		]);
		await untilSaid(job.metadata.uid, `Called ${new URL(address).host} once: the answer was 200`);
	});

	it('runs for as long as its input says, five seconds otherwise', async () => {
		const long = await client.createdJob(jobThatCalls(address, '3600'));
		const { inputs, ...usual } = jobThatCalls(address);
		const five = await client.createdJob({ ...usual, inputs: inputs?.slice(1) ?? [] });
		const runsFor = (uid: string): number => {
			const { succeedsAt, startedAt } = sandbox.store.jobs.get(uid) ?? {
				succeedsAt: null,
				startedAt: NaN,
			};
			return (succeedsAt ?? NaN) - startedAt;
		};
		expect([runsFor(long.metadata.uid), runsFor(five.metadata.uid)]).toEqual([3_600_000, 5_000]);
		const page = readFileSync(join(__dirname, '../../docs/continue-when-done.md'), 'utf8');
		expect(page).toContain('for as many seconds as the input `seconds` says (otherwise five)');
		expect(await callbackOf(long.metadata.uid)).toBe(
			`Calls ${new URL(address).host} when it has succeeded`,
		);
	});

	it('calls nobody while it is suspended, and calls when it has succeeded after that', async () => {
		const { metadata } = await client.createdJob(jobThatCalls(`${address}/suspended`, '0.1'));
		await client.change('suspend', metadata.uid);
		await client.createdJob(jobThatCalls(`${address}/later`, '0.2'));
		await until(() => called.length === 1);
		await client.change('resume', metadata.uid);
		await until(() => called.length === 2);
		expect(called.map(({ url }) => url)).toEqual(['/later', '/suspended']);
		expect(sandbox.store.jobs.get(metadata.uid)?.state).toBe('succeeded');
	});

	const finalVerbs = verbs.filter((verb) =>
		verbs.every((other) => states[other].from !== states[verb].to),
	);

	it.each(finalVerbs)('calls nobody after %s', async (verb) => {
		const { metadata } = await client.createdJob(jobThatCalls(address, '0.1'));
		await client.change(verb, metadata.uid);
		const later = await client.createdJob(jobThatCalls(`${address}/later`, '0.2'));
		await until(() => called.length > 0);
		expect(called).toMatchObject([{ url: '/later', body: { jobId: later.metadata.uid } }]);
		expect(await callbackOf(metadata.uid)).toMatch(
			/^Makes no call, since it was (stopp|terminat)ed$/,
		);
	});

	it('calls again until the call is taken', async () => {
		answers = [409, 500];
		const { metadata } = await client.createdJob(jobThatCalls(address));
		await until(() => called.length === 3);
		await untilSaid(metadata.uid, `Called ${new URL(address).host} 3 times: the answer was 200`);
	});

	it('calls again where the answer is a page, as that of an n8n that is about to start', async () => {
		answers = ['n8n is starting up. Please wait'];
		await client.createdJob(jobThatCalls(address));
		await until(() => called.length === 2);
	});

	it('calls again where nobody answers', async () => {
		const { port } = new URL(address);
		server.close();
		await once(server, 'close');
		const { metadata } = await client.createdJob(jobThatCalls(`http://localhost:${port}/hook`));
		await untilSaid(
			metadata.uid,
			`Called localhost:${port} once: no answer came, and it will try again`,
		);
		server.listen(Number(port), '127.0.0.1');
		await until(() => called.length === 1);
		expect(called).toMatchObject([{ url: '/hook' }]);
	});

	it('does not follow a redirect', async () => {
		answers = [307, 302];
		await client.createdJob(jobThatCalls(`${address}/hook`));
		await until(() => called.length === 3);
		expect(called.map(({ url }) => url)).toEqual(['/hook', '/hook', '/hook']);
	});
});

describe('A job of the template is refused', () => {
	it.each([
		'https://n8n.example.com/webhook-waiting/1',
		'http://n8n.example.com/',
		'http://10.0.0.1/',
		'http://0.0.0.0/',
		'http://[::]/',
		'http://169.254.169.254/',
		'http://127.0.0.1.example.com/',
		'http://localhost.example.com/',
		'http://127.0.0.1@example.com/',
		'ftp://127.0.0.1/',
		'https://127.0.0.1/',
		'webhook-waiting/1',
		'',
	])('where its address is not on this machine: %s', async (url) => {
		const answer = await client.create(jobThatCalls(url));
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toMatch(
			/^body\.job\.inputs: input 'callbackUrl' must be an address on this machine, .* the sandbox calls no other$/,
		);
		expect(sandbox.store.jobs.size).toBe(0);
	});

	it('where it has no address', async () => {
		const answer = await client.create(jobThatCalls(undefined));
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toBe(
			"body.job.inputs: workflow 'call-when-done' needs an input 'callbackUrl' with the address to call",
		);
	});

	it.each(['soon', '-1', '86401', 'Infinity'])('where its seconds are %s', async (seconds) => {
		const answer = await client.create(jobThatCalls(address, seconds));
		expect(answer.status).toBe(400);
		expect(messageOf(answer)).toContain(
			`must be a number of seconds from 0 to 86400, not '${seconds}'`,
		);
	});
});

it('A job of any other template calls nobody, whatever its inputs are', async () => {
	const { metadata } = await client.createdJob({
		...jobThatCalls('http://n8n.example.com/'),
		workflow: { uid: 'wf-report' },
	});
	expect(await callbackOf(metadata.uid)).toBeNull();
});
