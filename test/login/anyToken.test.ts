import { answer } from '../support/answer';
import { getAll, useSandbox } from '../support/fixture';

const fixture = useSandbox();

test('a token is sent as it came, whatever visible ASCII characters it has', async () => {
	const token = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n));
	expect(token).toMatch(/^!"#.*xyz\{\|\}~$/);
	fixture.sandbox.faults.plan(({ operation }) =>
		answer(200, operation === 'login' ? { access_token: token } : { items: [], metadata: {} }),
	);
	for (let runs = 0; runs < 2; runs += 1) {
		const { error } = await fixture.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
	}
	expect(fixture.callsOf('listClusters').map((call) => call.token)).toEqual([token, token]);
	expect(fixture.callsOf('login')).toHaveLength(1);
});
