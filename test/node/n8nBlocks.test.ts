/**
 * If n8n blocks the address of the service, or an expression of the credential, the error says so and nothing is sent.
 * n8n reads these settings from the environment when it is loaded, so this file loads its own copy of the engine.
 *
 * @jest-environment node
 */
import { create, credentialFor, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';

process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
process.env.N8N_BLOCK_ENV_ACCESS_IN_NODE = 'true';
const fixture = useSandbox();
beforeEach(() => void hurry());
afterAll(() => {
	delete process.env.N8N_SSRF_PROTECTION_ENABLED;
	delete process.env.N8N_BLOCK_ENV_ACCESS_IN_NODE;
});

test.each(oneOfEachCall)(
	'$value sends nothing to an address that n8n blocks, and its error says so',
	async ({ parameters }) => {
		const { error } = await fixture.engine.run({ parameters: parameters() });
		expect(error).toMatchObject({
			message: `n8n doesn't allow requests to ${fixture.sandbox.url}`,
			description: expect.stringMatching(
				/^Add the service's host to 'Allowed Domains' .* to allow its address .*\n\nNothing was sent\. n8n says: "The request was blocked because it resolves to a restricted IP address"\.$/,
			),
			context: { jobMayExist: false },
		});
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

test('the error item of a credential with a blocked $env says what to do', async () => {
	const credential = { ...credentialFor(fixture.sandbox), userName: '={{ $env.HOME }}' };
	fixture.engine.saveCredential(credential);
	const continued = { parameters: create(), onError: 'continueRegularOutput' } as const;
	const { items } = await fixture.engine.run(continued);
	expect(items[0]?.json).toMatchObject({
		message: "n8n can't use this node's credential: access to env vars denied",
		error: { description: expect.stringContaining('N8N_BLOCK_ENV_ACCESS_IN_NODE') as unknown },
	});
	expect(fixture.sandbox.calls).toEqual([]);
});
