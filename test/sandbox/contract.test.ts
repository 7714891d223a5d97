import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { operationIds, startSandbox, type Job, type Sandbox } from '../../sandbox';
import { wrongWith, wrongWithAnswer } from '../../sandbox/contract/checks';
import { contractOperation, contractOperations } from '../../sandbox/contract/contract';
import { Client } from './client';

const root = join(__dirname, '..', '..');
const examples = contractOperations.flatMap((operation) => operation.examples);

describe('The contract', () => {
	it('is valid by a standard OpenAPI linter, without a warning', async () => {
		const linter = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin', 'cli.js');
		const { stdout } = await promisify(execFile)(
			process.execPath,
			[linter, 'lint', 'contract/openapi.yaml', '--extends=recommended', '--format=json'],
			{
				cwd: root,
				env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
			},
		);
		const found: unknown = JSON.parse(stdout.slice(stdout.indexOf('{')));
		expect(found).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
	}, 30_000);

	it('has all the calls that the sandbox can do', () => {
		expect(contractOperations.map(({ id }) => id)).toEqual([...operationIds]);
	});

	it.each(examples.map((example) => [example.where, example] as const))(
		'has a valid example at %s',
		(_where, { schema, value }) => {
			expect(wrongWith(schema, value)).toBeUndefined();
		},
	);

	it.each(contractOperations.map((operation) => [operation.id, operation] as const))(
		'has an example for every message and every parameter of %s',
		(_id, { body, answers, parameters, examples: shown }) => {
			const described = [
				...[body ?? []].flat(),
				...[...answers.values()].flatMap((schema) => schema ?? []),
				...parameters.map(({ schema }) => schema),
			].map(({ $ref }) => $ref);
			const exemplified = new Set(shown.map(({ schema }) => schema.$ref));
			expect(described.filter(($ref) => !exemplified.has($ref))).toEqual([]);
		},
	);

	it('tells a wrong example from a right one', () => {
		const schema = contractOperation('createJob').body;
		if (schema === undefined) throw new Error('createJob takes a body');
		expect(wrongWith(schema, { namespace: 'default' })).toBe('value.job is missing');
	});

	it('knows of an answer whether it may be', () => {
		expect(wrongWithAnswer('changeJobState', 200, undefined)).toBeUndefined();
		expect(wrongWithAnswer('changeJobState', 200, {})).toMatch(/no body/);
		expect(wrongWithAnswer('listClusters', 200, { items: [] })).toBe('value.metadata is missing');
		expect(wrongWithAnswer('login', 204, undefined)).toMatch(/no answer with status 204/);
	});

	it('says of everything that the sandbox had to choose that it is not in the interface', () => {
		const text = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');
		for (const silent of [
			'how the token is presented',
			'the status code',
			'the states a job can be in',
		]) {
			expect(text.replaceAll(/\s+/g, ' ')).toMatch(
				new RegExp(`Not in the interface:[^.]*${silent}`),
			);
		}
		for (const element of [
			'bearer',
			'BadRequest',
			'NoValidToken',
			'NoSuchJob',
			'WrongState',
			'Error',
		]) {
			expect(text).toMatch(
				new RegExp(`^ +${element}:\n(?: .*\n){0,3}? +x-not-in-interface: true$`, 'm'),
			);
		}
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

	it('agree about the job in the examples, but for its id and its time', async () => {
		const { examples: shown } = contractOperation('createJob');
		const request = shown.find(({ where }) => where.includes('everything'))?.value;
		const expected = shown.find(({ where }) => where.includes('created'))?.value as Job;

		const { body } = await client.createRaw(request);

		const { metadata, status } = body as Job;
		const answered = JSON.stringify(body)
			.replaceAll(metadata.uid, expected.metadata.uid)
			.replace(status.startedAt, expected.status.startedAt);
		expect(JSON.parse(answered)).toEqual(expected);
	});

	it('agree about the clusters in the examples', async () => {
		const { examples: shown } = contractOperation('listClusters');
		const { items } = shown.find(({ where }) => where.includes('last'))?.value as {
			items: unknown[];
		};
		const { body } = await client.list();
		expect(body).toMatchObject({ items: expect.arrayContaining(items) });
	});
});
