import { change, create, getAll, newSandbox, credentialFor, useSandbox } from '../support/fixture';

declare const requireOnce: NodeJS.Require | undefined;

/*
 * How requests pass n8n's HTTP client.
 */

const fixture = useSandbox();

/** What a create has sent as its job, as JSON. */
const sentJob = () => {
	const [call] = fixture.callsOf('createJob');
	return JSON.stringify((call?.body as { job: unknown } | undefined)?.job);
};

describe('A body goes out as the JSON text that was checked', () => {
	const metadata = [
		'{"constructor":"Hochtief","prototype":"P-7","a":{"constructor":"x","b":1}}',
		'{"__proto__":{"isAdmin":true},"b":1}',
		'{"a":[{"__proto__":null,"constructor":{"prototype":{}}}]}',
		'{"toString":"x","valueOf":1,"hasOwnProperty":false,"toJSON":"y","length":0}',
		'{"名前":"é😀\\u2028","0":"zero","":" "}',
	];

	test.each(metadata)('Metadata, Job Inputs and Outputs (JSON) with %s', async (text) => {
		const list = `[{"id":"a","default":"b","more":${text}}]`;
		const given = { specifyParameters: 'json', inputsJson: list, outputsJson: list };
		// The contract knows no field of that name.
		fixture.answerWith('createJob', { metadata: { uid: '1' } });
		const { error } = await fixture.engine.run({
			parameters: create({ ...given, additionalFields: { metadata: text } }),
		});
		expect(error).toBeUndefined();
		const sent = JSON.stringify(JSON.parse(list));
		expect(sentJob()).toContain(`"inputs":${sent},"outputs":${sent}`);
		expect(sentJob()).toContain(`"metadata":${JSON.stringify(JSON.parse(text))}`);
	});
});

test.each([
	['a name in another script', 'Bericht für Größe 😀'],
	['a user with such a name', '{"constructor":"x"}'],
])('the login is sent as it was entered: %s', async (_, userName) => {
	const sandbox = await newSandbox({ userName, password: '"\\ é' });
	fixture.engine.saveCredential(credentialFor(sandbox));
	const { items } = await fixture.engine.run({ parameters: getAll() });
	expect(items).toHaveLength(6);
});

describe("The Timeout holds, also above the one of n8n's HTTP client", () => {
	const load = typeof requireOnce === 'function' ? requireOnce : require;
	const path = load.resolve('axios', { paths: [load.resolve('n8n-core')] });
	const { defaults } = load(path) as { defaults: { timeout: number } };
	const { timeout: usual } = defaults;
	afterEach(() => (defaults.timeout = usual));

	const options = { timeout: 600_000, maxRetries: 0 };
	test.each([
		['a create', create({ options })],
		['a state change', change('stop', { jobId: 'a', options })],
		['a list', getAll({ options })],
	])('%s, with its login', async (_, parameters) => {
		// n8n sets its own with the first request.
		await fixture.engine.run({ parameters });
		const sandbox = await newSandbox({ latency: 300 });
		defaults.timeout = 100;
		fixture.engine.saveCredential(credentialFor(sandbox));
		const { error } = await fixture.engine.run({ parameters });
		expect(error?.message ?? '').not.toMatch(/answer/);
		expect(sandbox.calls.map(({ operation }) => operation)).toHaveLength(2);
	});
});
