/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, numbered } from '../support/fixture';
import { until } from '../sandbox/client';
import { expectNoSecretIn, PASSWORD, useTraces } from './traces';

/*
 * A service that repeats a secret in a job's ID. Its answer is passed on as it came; what the node itself says of the
 * job is without it. What the workflow gives, such as a job's name, is shown as it is given.
 */

const fixture = useTraces();

const batch: INodeParameters = create({
	displayName: '=Job {{ $json.n }}',
	options: { concurrency: 1, maxRetries: 0 },
});

/** The first job is made, with this ID; what becomes of the second is up to the test. */
function firstJobIs(uid: (token: string) => string, second: () => Fault): void {
	fixture.sandbox.faults.plan(({ operation, nOfOperation, token = 'no token' }) => {
		if (operation !== 'createJob') return undefined;
		const metadata = { uid: uid(token), namespace: `in ${token}` };
		return nOfOperation === 1 ? answer(200, { metadata, displayName: 'Report' }) : second();
	});
}

describe('A job that the service names after a secret is listed without its ID:', () => {
	test.each<[string, (token: string) => string]>([
		['the token', (token) => `job-${token}`],
		['the token in base64', (token) => Buffer.from(token).toString('base64')],
		['the password in percent encoding', () => `job-${encodeURIComponent(PASSWORD)}`],
	])('%s', async (_, uid) => {
		firstJobIs(uid, () => answer(400, { message: 'no' }));
		const { texts } = await fixture.expectNoLeak(batch);
		const error = texts.get('the error of the node');
		expect(error).toContain('• item 0: (not shown: contains a secret) (');
		expect(error).toMatch(/^\(not shown: contains a secret\)$/m);
	});

	test('also in the log, if the execution is cancelled', async () => {
		firstJobIs(
			(token) => `job-${token}`,
			() => ({ kind: 'stall', when: 'beforeActing' }),
		);
		const creates = () => fixture.sandbox.calls.filter((call) => call.operation === 'createJob');
		const traces = await fixture.leftBy(async () => {
			const { result, cancel } = fixture.engine.start([{ parameters: batch }], numbered(2));
			await until(() => creates().length === 2);
			cancel();
			fixture.limits.runOut();
			return await result;
		});
		expect(traces.texts.get("n8n's log")).toMatch(
			/was cancelled\. Jobs already created: .*not shown: contains a secret/,
		);
		expectNoSecretIn(traces);
	});
});

test('It is ended by the ID that the service gave it', async () => {
	const uid = Buffer.from(PASSWORD).toString('hex');
	firstJobIs(
		() => uid,
		() => answer(400),
	);
	const options = { concurrency: 1, maxRetries: 0, ifStopped: 'stop' };
	await fixture.engine.run({ parameters: create({ options }) }, numbered(2));
	const paths = fixture.sandbox.calls.map(({ path }) => path);
	expect(paths).toContain(`/api/v1/namespaces/default/jobs/${uid}/stop`);
});

test("A job's own output is what the service sent", async () => {
	firstJobIs(
		() => PASSWORD,
		() => answer(400),
	);
	const { items } = await fixture.engine.run({ parameters: create() });
	expect(items).toMatchObject([{ json: { metadata: { uid: PASSWORD }, displayName: 'Report' } }]);
});

describe('A password that is an ordinary word is shown in what the workflow gives', () => {
	test.each(['default', 'admin', 'Report', 'namespace'])('%s', async (password) => {
		fixture.engine.editCredential({ userName: fixture.sandbox.userName, password });
		const login = answer(200, { access_token: 'a-token', token_type: 'Bearer' });
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'login') return login;
			if (operation !== 'createJob') return answer(404);
			return nOfOperation === 1
				? answer(200, { metadata: { uid: 'job-1', namespace: 'default' } })
				: answer(500);
		});
		const options = { concurrency: 1, maxRetries: 0 };
		const displayName = "=Admin's Report {{ $json.n }}";
		const made = await fixture.engine.run(
			{ parameters: create({ displayName, options }) },
			numbered(2),
		);
		for (const text of [
			"look on the service for a job named 'Admin's Report 1' in namespace 'default'",
			"Jobs already created (1) in namespace 'default':\n• item 0: job-1 ('Admin's Report 0')",
		]) {
			expect(made.error?.description).toContain(text);
		}
		const { error } = await fixture.engine.run({
			parameters: change('stop', { jobId: 'admin', options }),
		});
		expect(error?.message).toBe("No job 'admin' in namespace 'default'");
		expect(JSON.stringify([made.error, error])).not.toContain('not shown');
	});
});
