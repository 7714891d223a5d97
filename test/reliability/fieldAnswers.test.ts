import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { contextOf } from './batch';

/*
 * Answers that the interface doesn't show, as services, frameworks and proxies out there send them.
 */

const fixture = useSandbox({ clusters: 25, maxPageSize: 10 });

afterEach(() => jest.restoreAllMocks());

describe('A failure of the service', () => {
	const options = { maxRetries: 1 };

	test.each([506, 507, 511, 520, 521, 522, 523, 524, 525, 526, 527, 530, 599])(
		'%i: reads and state changes are sent again, a create is not and may exist',
		async (status) => {
			hurry();
			fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
				operation !== 'login' && nOfOperation === 1 ? answer(status) : undefined,
			);
			const { error } = await fixture.engine.run({ parameters: getAll({ limit: 1, options }) });
			expect(error).toBeUndefined();
			expect(fixture.callsOf('listClusters')).toHaveLength(2);

			const changed = await fixture.engine.run({
				parameters: change('stop', { jobId: 'a', options }),
			});
			expect(contextOf(changed)).toMatchObject({ httpStatus: 404 });
			expect(fixture.callsOf('changeJobState')).toHaveLength(2);

			const created = await fixture.engine.run({ parameters: create({ options }) });
			expect(contextOf(created)).toMatchObject({ jobMayExist: true, httpStatus: status });
			expect(fixture.callsOf('createJob')).toHaveLength(1);
		},
	);

	test.each([501, 505])('%i is not sent again', async (status) => {
		hurry();
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'listClusters' ? answer(status) : undefined,
		);
		await fixture.engine.run({ parameters: getAll({ options }) });
		expect(fixture.callsOf('listClusters')).toHaveLength(1);
	});
});

describe('A state change that is answered with 200', () => {
	const stop = async (body: unknown, headers?: Record<string, string>) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'changeJobState' ? actAndAnswer(200, body, headers) : undefined,
		);
		return await fixture.engine.run({ parameters: change('stop', { jobId: 'a' }) });
	};

	test.each<[unknown, string]>([
		[{ success: false, message: 'job already stopped' }, 'job already stopped'],
		[{ success: 'false', error: 'job already stopped' }, 'job already stopped'],
		[{ ok: false, detail: 'gone' }, 'gone'],
		[{ code: 500, msg: 'job not found' }, 'job not found'],
		[{ code: '404', msg: 'job not found' }, 'job not found'],
		[{ status: 404, title: 'Not Found' }, 'Not Found'],
		[{ statusCode: 409, message: 'busy', data: null }, 'busy'],
		[{ code: 599, message: 'x' }, 'x'],
		[{ error: { code: 403, message: 'not yours' } }, 'not yours'],
		[
			{ kind: 'Status', status: 'Failure', message: 'jobs "a" not found', code: 404 },
			'jobs "a" not found',
		],
	])('and %j has failed, in the words of the service', async (body, words) => {
		const result = await stop(body);
		expect(result.error?.message).toBe(`The service refused to stop the job: ${words}`);
		expect(result.error?.description).toContain(`The service says: "${words}" (HTTP 200).`);
		expect(result.error?.description?.split(words)).toHaveLength(2);
		expect(contextOf(result)).toMatchObject({ httpStatus: 200 });
		expect(fixture.callsOf('changeJobState')).toHaveLength(1);
	});

	test('and failed without a reason has failed, too', async () => {
		const { error } = await stop({ success: false });
		expect(error?.message).toBe('The service refused to stop the job');
		expect(error?.description).toContain('The service gave no reason (HTTP 200).');
	});

	test.each<[unknown]>([
		[{ code: 0 }],
		[{ code: 200 }],
		[{ code: '0' }],
		[{ code: 20_000 }],
		[{ code: 399 }],
		[{ code: 600 }],
		[{ code: 404.5 }],
		[{ success: true }],
		[{ success: null, message: 'stopped' }],
		[{ status: 'stopped' }],
		[{ status: { phase: 'Failed', code: 500 } }],
		[{ status: 'Success', code: 200 }],
		[{ exitCode: 500 }],
		[{ error: null }],
		[{}],
		[[{ code: 500 }]],
		['ok'],
		['<3'],
		['<?xml version="1.0"?><result>ok</result>'],
		['\n<?xml version="1.0" encoding="UTF-8"?>\n<!-- done -->\n<html-like/>'],
		['<result xmlns="urn:x">ok</result>'],
		['<ns:stopResponse xmlns:ns="urn:x"/>'],
	])('and %j is confirmed', async (body) => {
		const { items, error } = await stop(body);
		expect(error).toBeUndefined();
		expect(items).toMatchObject([{ json: { success: true, response: body } }]);
	});

	test.each([
		'<!DOCTYPE html><html></html>',
		'<html lang="en">',
		'<!-- page --><html>',
		'<head><title>x</title>',
		'  <DIV class="login">',
		'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html>',
		'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
		'<body>x</body>',
		'<script>location="/login"</script>',
	])('and the page %s is not confirmed', async (page) => {
		const { error } = await stop(page);
		expect(error?.message).toBe('The service answered with an HTML page instead of a confirmation');
	});
});

test('a create that is answered with a refusal may exist, and shows the words of the service', async () => {
	fixture.answerWith('createJob', { success: false, message: 'quota used up' });
	const result = await fixture.engine.run({ parameters: create() });
	expect(result.error?.message).toBe(
		'The service answered with an object instead of a job; the job may exist',
	);
	expect(result.error?.description).toContain('It sent the message "quota used up" (HTTP 200).');
	expect(result.error?.description?.split('quota used up')).toHaveLength(2);
	expect(contextOf(result)).toMatchObject({ jobMayExist: true, httpStatus: 200 });
});

test.each<[string, Fault]>([
	['the login', answer(407)],
	['a request', answer(407)],
])('407 to %s: the proxy wants a login, and the setting is named', async (which, fault) => {
	fixture.sandbox.faults.plan(({ operation }) =>
		(operation === 'login') === (which === 'the login') ? fault : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error?.message).toMatch(/proxy/i);
	expect(error?.description).toMatch(/HTTPS_PROXY/);
	expect(`${error?.message} ${error?.description}`).not.toMatch(/refused the login|Password/);
});
