import fc from 'fast-check';

import { freePort } from '../../host/ports';
import '../reliability/seed';
import { create, getAll, newSandbox, credentialFor, useSandbox } from '../support/fixture';
import { oneOfEachCall } from '../support/operations';

declare const requireOnce: NodeJS.Require | undefined;

/** Loads the same copy of a module that n8n's engine uses. */
const load = typeof requireOnce === 'function' ? requireOnce : require;

/*
 * Numbers and logins arrive at the service as they were entered. Timeouts and proxies apply. createJob.test.ts has the
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

test('the login sends the user name and the password as they were entered', async () => {
	const sandbox = await newSandbox({ userName: '{"constructor":"Größe 😀"}', password: '"\\ é' });
	fixture.engine.saveCredential(credentialFor(sandbox));
	expect((await fixture.succeeds(getAll())).items).toHaveLength(6);
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

test("requests use the proxy from n8n's environment, and an error names the proxy if it can't be reached", async () => {
	const proxy = `127.0.0.1:${await freePort()}`;
	const { env } = load('node:process') as NodeJS.Process;
	env.HTTP_PROXY = `http://${proxy}`;
	try {
		fixture.engine.editCredential({ baseUrl: 'http://jobs.example.com' });
		const { error } = await fixture.engine.run({
			parameters: getAll({ options: { maxRetries: 0 } }),
		});
		expect(error).toMatchObject({
			message: "The service at http://jobs.example.com can't be reached",
			description: expect.stringMatching(
				`^Check .*HTTP_PROXY .*\n\nNothing was sent. n8n says: "connect ECONNREFUSED ${proxy}"`,
			),
		});
	} finally {
		delete env.HTTP_PROXY;
	}
});
