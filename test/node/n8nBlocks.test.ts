/**
 * If n8n blocks the address of the service, the error says so and nothing is sent. n8n reads this setting from the
 * environment when it is loaded, so this file loads its own copy of the engine.
 *
 * @jest-environment node
 */
import { useSandbox } from '../support/fixture';
import { oneOfEachCall } from '../support/operations';

process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
const fixture = useSandbox();
afterAll(() => {
	delete process.env.N8N_SSRF_PROTECTION_ENABLED;
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
