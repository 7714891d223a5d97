/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { INodeParameters } from 'n8n-workflow';

import { answer } from '../engine/answer';
import { change, create, getAll } from '../engine/fixture';
import { until } from '../sandbox/client';
import { expectNoSecretIn, modes, PASSWORD, useTraces } from './traces';

/*
 * A service that repeats a secret in what it calls a job. Its answer is handed on as it came; what the node itself
 * says of the job is without it: the list of jobs that exist, an error that names one.
 */

const fixture = useTraces();

const batch: INodeParameters = create({
	displayName: '=Job {{ $json.n }}',
	options: { concurrency: 1, maxRetries: 0 },
});

const named: Array<[string, (token: string) => { uid: string; displayName: string }]> = [
	['the token, the password', (token) => ({ uid: `job-${token}`, displayName: `Of ${PASSWORD}` })],
	[
		'both in base64',
		(token) => ({
			uid: `job:${Buffer.from(token).toString('base64')}`,
			displayName: `Of ${Buffer.from(PASSWORD).toString('base64')}`,
		}),
	],
	[
		'both in percent encoding',
		(token) => ({ uid: `job-${token}`, displayName: `Of ${encodeURIComponent(PASSWORD)}` }),
	],
];

/** The first job is made, and named so; what becomes of the second is up to the test. */
function firstJobIs(name: (typeof named)[0][1], second: () => ReturnType<typeof answer>): void {
	fixture.sandbox.faults.plan(({ operation, nOfOperation, token = 'no token' }) => {
		if (operation !== 'createJob') return undefined;
		const { uid, displayName } = name(token);
		const job = { metadata: { uid, namespace: `in ${token}` }, displayName };
		return nOfOperation === 1 ? answer(200, job) : second();
	});
}

describe('A job that the service names after a secret is listed without it:', () => {
	test.each(named)('%s', async (_, name) => {
		firstJobIs(name, () => answer(400, { message: 'no' }));
		const { texts } = await fixture.expectNoLeak(batch);
		const error = texts.get('the error of the node');
		expect(error).toMatch(/• item 0: job[-:]\*\*\* \(/);
		expect(error).toMatch(/^job[-:]\*\*\*$/m);
	});

	test('also in the log, where the execution is cancelled', async () => {
		const [[, name] = ['', () => ({ uid: '', displayName: '' })]] = named;
		firstJobIs(name, () => ({ kind: 'stall', when: 'beforeActing' }));
		const creates = () => fixture.sandbox.calls.filter((call) => call.operation === 'createJob');
		const traces = await fixture.leftBy(async () => {
			const items = [{ n: 0 }, { n: 1 }];
			const { result, cancel } = fixture.engine.start([{ parameters: batch }], items);
			await until(() => creates().length === 2);
			cancel();
			fixture.limits.runOut();
			return await result;
		});
		expect(traces.texts.get("n8n's log")).toMatch(
			/was cancelled\. Jobs created by then: .*job-\*\*\*/,
		);
		expectNoSecretIn(traces);
	});
});

test("A job's own output is what the service sent", async () => {
	firstJobIs(
		() => ({ uid: PASSWORD, displayName: 'Report' }),
		() => answer(400),
	);
	const { items } = await fixture.engine.run({ parameters: create() });
	expect(items).toMatchObject([{ json: { metadata: { uid: PASSWORD }, displayName: 'Report' } }]);
});

describe('An error that names what the workflow gave names it without the token:', () => {
	const named: Array<[string, INodeParameters, RegExp]> = [
		[
			'a job',
			change('stop', { namespace: '=of {{ $json.token }}', jobId: '=job-{{ $json.token }}' }),
			/job 'job-\*\*\*'.*namespace 'of \*\*\*'/i,
		],
		[
			'a job that may exist',
			create({ namespace: '=of {{ $json.token }}', displayName: '=Job {{ $json.token }}' }),
			/'Job \*\*\*'.*namespace 'of \*\*\*'/i,
		],
	];
	test.each(named)('%s', async (_, parameters, words) => {
		await fixture.engine.run({ parameters: getAll() });
		const token = fixture.sandbox.calls.flatMap((call) => call.token ?? []).at(-1);
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' ? answer(500) : undefined,
		);
		for (const onError of modes) {
			const { error, items } = await fixture.engine.run(
				{ parameters: { ...parameters, options: { maxRetries: 0 } }, onError },
				[{ token }],
			);
			// n8n puts the input beside an item's error.
			const ofItems = items.map(({ json }) => [json.error, json.message]);
			const said = JSON.stringify([error?.message, error?.description, ofItems]);
			expect(said).toMatch(words);
			expect(said).not.toContain(token);
		}
	});
});
