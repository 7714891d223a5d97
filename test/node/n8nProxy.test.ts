/**
 * A proxy is named in the environment: the engine that reads it is this file's own.
 *
 * @jest-environment node
 */
import { freePort } from '../../host/ports';
import { credentialFor, getAll, useSandbox } from '../support/fixture';

const fixture = useSandbox();

test("a proxy of n8n's that can't be reached is named", async () => {
	const proxy = `127.0.0.1:${await freePort()}`;
	process.env.HTTP_PROXY = `http://${proxy}`;
	try {
		fixture.engine.saveCredential({
			...credentialFor(fixture.sandbox),
			baseUrl: 'http://jobs.example.com',
		});
		const { error } = await fixture.engine.run({
			parameters: getAll({ options: { maxRetries: 0 } }),
		});
		expect(error).toMatchObject({
			message: "The service at http://jobs.example.com can't be reached",
			description: expect.stringMatching(
				`^Check .*the service or its proxy .*\nNo connection to ${proxy} was possible`,
			),
		});
	} finally {
		delete process.env.HTTP_PROXY;
	}
});
