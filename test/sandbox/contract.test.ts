import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { startSandbox, wrongWithAnswer, type Job, type Sandbox } from '../../sandbox';
import { contractOperation } from '../../sandbox/contract/contract';
import { Client } from './client';

describe('The contract', () => {
	it('is valid by a standard OpenAPI linter, with its examples and without a warning', async () => {
		const linter = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin', 'cli.js');
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[linter, 'lint', 'contract/openapi.yaml', '--extends=recommended', '--format=json'],
			{
				cwd: join(__dirname, '..', '..'),
				env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
			},
		);
		const found: unknown = JSON.parse(stdout.slice(stdout.indexOf('{')));
		expect(found).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
	}, 30_000);

	it.each([
		['changeJobState', 200, undefined, undefined],
		['changeJobState', 200, {}, 'changeJobState answers 200 with no body'],
		['listClusters', 200, { items: [] }, "value must have required property 'metadata'"],
		['login', 204, undefined, 'login has no answer with status 204'],
	] as const)('says of the answer %s %i %j: %j', (operation, status, body, wrong) => {
		expect(wrongWithAnswer(operation, status, body)).toBe(wrong);
	});
});

describe('The contract and the sandbox', () => {
	let sandbox: Sandbox;
	let client: Client;

	beforeAll(async () => {
		sandbox = await startSandbox();
		client = new Client(sandbox);
		await client.login();
	});
	afterAll(async () => await sandbox.close());

	const exampleOf = (operation: 'createJob', wanted: string): unknown =>
		contractOperation(operation).examples.find(({ name }) => name === wanted)?.value;

	it('agree about the job in the examples, but for its id, its time and its engine', async () => {
		const { body } = await client.createRaw(exampleOf('createJob', 'everything'));
		const expected = exampleOf('createJob', 'created') as Job;
		const { metadata, status } = body as Job;
		const answered = JSON.stringify(body)
			.replaceAll(metadata.uid, expected.metadata.uid)
			.replace(status.startedAt, expected.status.startedAt);
		const { engineWorkflow } = expected;
		expect({ ...(JSON.parse(answered) as Job), engineWorkflow }).toEqual(expected);
	});
});
