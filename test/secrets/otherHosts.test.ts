import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Fault } from '../../sandbox';
import { getAll } from '../support/fixture';
import type { OtherRequest } from '../support/run';
import { everyText } from './everyText';
import { expectNoSecretIn, operations, PASSWORD, placesOf, useTraces } from './traces';

/*
 * The token is never sent to another host, neither if the service redirects to it nor if a node uses the credential for
 * it.
 */

const fixture = useTraces();

let elsewhere: ReturnType<typeof createServer>;
let received: string[];
let host: string;

beforeEach(async () => {
	received = [];
	elsewhere = createServer((request, reply) => {
		received.push(`${request.method} ${request.url}`);
		reply.end('{}');
	});
	await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
	host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
afterEach(() => {
	elsewhere.close();
	expect(received).toEqual([]);
});

test.each([301, 302, 303, 307, 308] as const)(
	'Another host gets no request if the service redirects to it: %i',
	async (status) => {
		const redirect: Fault = { kind: 'redirect', status, location: `http://${host}/x` };
		fixture.meets('others', redirect);
		for (const parameters of operations) expectNoSecretIn(await fixture.leftByNode(parameters));
		fixture.engine.editCredential({ accessToken: '', userName: 'redirected at the login' });
		fixture.sandbox.faults.plan(() => redirect);
		await fixture.expectNoLeak(getAll());
	},
);

/** `{host}` stands for the other host, and `{service}` for the service. */
test.each<OtherRequest>([
	{ url: 'http:{host}/x' },
	{ url: 'http:\\\\{host}\\x' },
	{ url: 'HTTP://{host}/x' },
	{ url: 'http://jobs.example.com@{host}/' },
	{ url: 'http://{host}/x', baseURL: '{service}' },
	{ url: '//{host}/x', baseURL: '{service}' },
	{ url: '', baseURL: 'http://{host}' },
	{ uri: 'http:/{host}/x' },
	{ url: 'http://127.0.0.1:9/api/v1/clusters' },
])('another host gets neither a request nor a secret through n8n: %j', async (request) => {
	await fixture.engine.run({ parameters: getAll() });
	const filled = JSON.stringify({ method: 'GET', ...request })
		.replaceAll('{host}', host)
		.replaceAll('{service}', fixture.sandbox.url);
	const sent = fixture.engine.requestAsOtherNode(JSON.parse(filled) as OtherRequest);
	const error: unknown = await sent.catch((reason: unknown) => reason);
	expect(String(error)).toMatch(/This credential is for .* only/);
	const texts = new Map([['the error', [...everyText(error)].join()]]);
	expect(placesOf([fixture.engine.token, PASSWORD], texts)).toEqual([]);
});
