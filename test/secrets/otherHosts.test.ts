/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { IHttpRequestOptions, ILoadOptionsFunctions } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { getAll } from '../support/fixture';
import { everyText } from './everyText';
import { operations, PASSWORD, placesOf, useTraces } from './traces';

/*
 * The token goes to no other host, whether the service sends it there or a node that uses the credential.
 */

const fixture = useTraces();

describe('Another host', () => {
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
	afterEach(async () => {
		await new Promise((resolve) => elsewhere.close(resolve));
	});

	const statuses = [301, 302, 303, 307, 308] as const;

	test.each(statuses)('gets no request where the service redirects to it: %i', async (status) => {
		const redirect: Fault = { kind: 'redirect', status, location: `http://${host}/x` };
		fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : redirect));
		for (const { parameters } of operations) await fixture.expectNoLeak(parameters);
		fixture.engine.editCredential({ accessToken: '', userName: 'redirected at the login' });
		fixture.sandbox.faults.plan(() => redirect);
		await fixture.expectNoLeak(getAll());
		expect(received).toEqual([]);
	});

	const addresses: Array<
		[string, (host: string) => Partial<IHttpRequestOptions> & { uri?: string }]
	> = [
		['url', (name) => ({ url: `http://${name}/x` })],
		['url, without slashes', (name) => ({ url: `http:${name}/x` })],
		['url, with one slash', (name) => ({ url: `http:/${name}/x` })],
		['url, with slashes the other way', (name) => ({ url: `http:\\\\${name}\\x` })],
		['url, with capitals', (name) => ({ url: `HTTP://${name}/x` })],
		[
			'url, with a user name that is a host',
			(name) => ({ url: `http://jobs.example.com@${name}/` }),
		],
		['url, beside a base', (name) => ({ baseURL: fixture.sandbox.url, url: `http://${name}/x` })],
		['url, without a scheme', (name) => ({ baseURL: fixture.sandbox.url, url: `//${name}/x` })],
		['base', (name) => ({ baseURL: `http://${name}`, url: '/x' })],
		['base, with an empty url', (name) => ({ baseURL: `http://${name}`, url: '' })],
		['uri', (name) => ({ uri: `http://${name}/x` })],
		['uri, with one slash', (name) => ({ uri: `http:/${name}/x` })],
		['own host by another scheme', () => ({ url: fixture.sandbox.url.replace('http', 'https') })],
		['own host at another port', () => ({ url: 'http://127.0.0.1:9/api/v1/clusters' })],
	];

	test('gets none of what is meant for the own service of the credential, which is sent', async () => {
		await fixture.engine.run({ parameters: getAll() });
		for (const name of ['url', 'uri']) {
			const options = { method: 'GET', [name]: `${fixture.sandbox.url}/api/v1/clusters` };
			await requestWithCredential(options as unknown as IHttpRequestOptions);
		}
		expect(fixture.sandbox.calls.map(({ operation, status }) => [operation, status])).toEqual([
			['login', 200],
			...new Array(3).fill(['listClusters', 200]),
		]);
		expect(received).toEqual([]);
	});

	test.each(addresses)(
		'gets neither a request nor a secret through n8n: %s',
		async (_, request) => {
			await fixture.engine.run({ parameters: getAll() });
			const options = { method: 'GET', ...request(host) } as IHttpRequestOptions;
			const error: unknown = await requestWithCredential(options).catch(
				(reason: unknown) => reason,
			);
			expect(String(error)).toMatch(/This credential is for .* only/);
			const texts = new Map([['the error', [...everyText(error)].join()]]);
			expect(placesOf([fixture.engine.token, PASSWORD], texts)).toEqual([]);
			expect(received).toEqual([]);
		},
	);
});

/** Sends a request as a node does that uses the credential without knowing it. */
async function requestWithCredential(options: IHttpRequestOptions): Promise<unknown> {
	const { node } = fixture.engine.loaded;
	let answered: unknown;
	const listSearch = {
		async probe(this: ILoadOptionsFunctions) {
			const { httpRequestWithAuthentication, requestWithAuthentication } = this.helpers;
			answered = await ('uri' in options
				? requestWithAuthentication.call(this, 'jobOrchestrationApi', options as object)
				: httpRequestWithAuthentication.call(this, 'jobOrchestrationApi', options));
			return { results: [] };
		},
	};
	const methods = jest.replaceProperty(node, 'methods', { listSearch });
	try {
		await fixture.engine.listSearch('probe');
		return answered;
	} finally {
		methods.restore();
	}
}
