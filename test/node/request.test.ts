import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import fc from 'fast-check';

import { freePort } from '../../host/ports';
import '../reliability/seed';
import { create, newSandbox, credentialFor, useSandbox } from '../support/fixture';
import { oneOfEachCall } from '../support/operations';

declare const requireOnce: NodeJS.Require | undefined;

/** Loads the same copy of a module that n8n's engine uses. */
const load = typeof requireOnce === 'function' ? requireOnce : require;

/*
 * Numbers arrive at the service as they were entered. Timeouts and proxies apply. createJob.test.ts has the
 * values of all other fields.
 */

const fixture = useSandbox();

const metadata = (text: string) => create({ additionalFields: { metadata: text } });

test('every whole number in JSON arrives, or is refused if JavaScript cannot tell it from another one', async () => {
	await fc.assert(
		fc.asyncProperty(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), async (number) => {
			for (const written of [number, number % 2n ** 53n]) {
				fixture.sandbox.clearCalls();
				await fixture.engine.run({ parameters: metadata(`{ "n": [${written}] }`) });
				const isSafe = Number.isSafeInteger(Number(written));
				const sent = isSafe
					? [expect.objectContaining({ metadata: { n: [Number(written)] } })]
					: [];
				expect(fixture.sentJobs()).toEqual(sent);
			}
		}),
		{ numRuns: 20 },
	);
});

describe("A Timeout that is longer than that of n8n's HTTP client applies to", () => {
	const path = load.resolve('axios', { paths: [load.resolve('n8n-core')] });
	const { defaults } = load(path) as { defaults: { timeout: number } };
	const { timeout: usual } = defaults;
	afterEach(() => (defaults.timeout = usual));

	test.each(oneOfEachCall)('$value and its login', async (operation) => {
		const parameters = operation.parameters({ options: { timeout: 600_000, maxRetries: 0 } });
		// n8n sets its own default timeout with the first request, so the test changes the default after it.
		await fixture.engine.run({ parameters });
		const sandbox = await newSandbox({ latency: 300 });
		defaults.timeout = 100;
		fixture.engine.saveCredential(credentialFor(sandbox));
		const { error } = await fixture.engine.run({ parameters });
		expect(error?.message ?? '').not.toMatch(/answer/);
		expect(sandbox.calls.map(({ operation }) => operation)).toHaveLength(2);
	});
});

describe('If n8n uses a proxy (HTTP_PROXY, HTTPS_PROXY) that', () => {
	const { env } = load('node:process') as NodeJS.Process;
	afterEach(() => {
		delete env.HTTP_PROXY;
		delete env.HTTPS_PROXY;
	});

	/** Starts a proxy that ends each request for a connection to an https address with this response. */
	async function proxyThat(responds: string): Promise<string> {
		const proxy = createServer().on('connect', (_, socket) => socket.end(responds));
		await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
		proxies.push(proxy);
		return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	}
	const proxies: Server[] = [];
	afterEach(() => proxies.splice(0).forEach((proxy) => proxy.close()));

	const blocked = (status: string) =>
		`HTTP/1.1 ${status}\r\nContent-Length: 7\r\nConnection: close\r\n\r\nblocked`;

	test.each<[string, () => Promise<string>, string, title: RegExp, description: RegExp]>([
		[
			"doesn't run",
			async () => `http://127.0.0.1:${await freePort()}`,
			'http://jobs.example.com',
			/^The service at http:\/\/jobs\.example\.com can't be reached$/,
			/n8n says: "connect ECONNREFUSED 127/,
		],
		[
			'has an unknown name',
			async () => await Promise.resolve('http://nobody:hidden@proxy.invalid:1'),
			'https://jobs.example.com',
			/^The service at https:\/\/jobs\.example\.com can't be reached$/,
			/If n8n uses a proxy .*Nothing was sent\. n8n says: "getaddrinfo [A-Z_]+ proxy\.invalid"\.$/s,
		],
		[
			'closes the connection',
			async () => await proxyThat(''),
			'https://jobs.example.com',
			/^The proxy between n8n and the service can't be reached, or refuses the connection$/,
			/\n\nNothing was sent\.$/,
		],
		[
			'refuses the address',
			async () => await proxyThat(blocked('403 Forbidden')),
			'https://jobs.example.com',
			/^The service or a proxy refused to log the user in: blocked$/,
			/ask its administrator whether it allows https:\/\/jobs\.example\.com/,
		],
		[
			'wants a login',
			async () => await proxyThat(blocked('407 Proxy Authentication Required')),
			'https://jobs.example.com',
			/^A proxy before the service wants a login: blocked$/,
			/^Add the user and the password of the proxy to its address/,
		],
	])('%s, the error names both settings, but no password', async (_, start, ...rest) => {
		const [baseUrl, title, description] = rest;
		env.HTTP_PROXY = env.HTTPS_PROXY = await start();
		fixture.engine.editCredential({ baseUrl });
		// In the editor, the node doesn't wait for a service that has never answered.
		fixture.engine.mode = 'manual';
		const options = { maxRetries: 0 };
		const { error } = await fixture.engine.run({ parameters: create({ options }) });
		expect(error?.message).toMatch(title);
		expect(error?.description).toMatch(description);
		expect(error?.description).toMatch(/HTTP_PROXY and HTTPS_PROXY/);
		expect(`${error?.message} ${error?.description}`).not.toContain('hidden');
		expect(error?.context).toMatchObject({ jobMayExist: false });
	});
});
