import { actAndAnswer, answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { contextOf } from './batch';

/*
 * The node also interprets answers that the interface document doesn't describe, as real services, frameworks and
 * proxies send them. It says a job was not created only if this is certain.
 */

const fixture = useSandbox({ clusters: 25, maxPageSize: 10 });
const { callsOf, meets } = fixture;

describe('A state change that is answered with 200', () => {
	const stop = async (body: unknown, headers?: Record<string, string>) => {
		meets('changeJobState', () => actAndAnswer(200, body, headers));
		return await fixture.engine.run({ parameters: change('stop', { jobId: 'a' }) });
	};

	test.each<[unknown, string]>([
		[{ success: false, message: 'job already stopped' }, '"job already stopped"'],
		[{ ok: false, grund: 'ist fort' }, '"ist fort"'],
		[{ code: 500, msg: 'job not found' }, '"job not found"'],
		[{ statusCode: 409, message: 'busy', data: null }, '"busy"'],
		[{ code: '404', msg: 'job not found' }, '{"code":"404","msg":"job not found"}'],
		[
			{ error: { code: 403, message: 'not yours' } },
			'{"error":{"code":403,"message":"not yours"}}',
		],
	])('and %j has failed, and its error quotes the service', async (body, said) => {
		const result = await stop(body);
		expect(result.error?.message).toMatch(/^The service refused to stop the job: [\w ]+$/);
		expect(result.error?.description).toContain(`The service says: ${said} (HTTP 200).`);
		expect(contextOf(result)).toMatchObject({ httpStatus: 200 });
		expect(callsOf('changeJobState')).toHaveLength(1);
	});

	test('and says that it failed has also failed if it gives no reason', async () => {
		const { error } = await stop({ success: false });
		expect(error?.message).toBe('The service refused to stop the job');
		expect(error?.description).toContain('The service gave no reason (HTTP 200).');
	});

	test.each<[unknown]>([
		[{ code: 0 }],
		[{ code: 20_000 }],
		[{ code: 404.5 }],
		[{ success: null, message: 'stopped' }],
		[{ status: { phase: 'Failed', code: 500 } }],
		[{ exitCode: 500 }],
		[[{ code: 500 }]],
		['<?xml version="1.0"?><result>ok</result>'],
		['\n<?xml version="1.0" encoding="UTF-8"?>\n<!-- done -->\n<html-like/>'],
	])('and %j is confirmed', async (body) => {
		const { items, error } = await stop(body);
		expect(error).toBeUndefined();
		expect(items).toMatchObject([{ json: { success: true, response: body } }]);
	});

	test.each<[page: string, headers?: Record<string, string>]>([
		['<!-- page --><html>'],
		['<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">'],
		// Any HTML is a page if its content type says so.
		['  <DIV class="login">', { 'content-type': 'text/html' }],
	])('and the page %s is not confirmed', async (page, headers = {}) => {
		const { error } = await stop(page, headers);
		expect(error?.message).toBe('The service answered with an HTML page instead of a confirmation');
	});
});

describe('A create that is answered with 200 but without a job', () => {
	test.each<[unknown, string]>([
		[{ success: false, message: 'quota used up' }, 'quota used up'],
		[{ success: 'false', errors: ['Unknown template', 'No group'] }, 'Unknown template: No group'],
		[{ ok: false, error: { text: 'Unknown template' } }, 'Unknown template'],
		[{ success: false, metadata: {}, errors: ['Unknown template'] }, 'Unknown template'],
	])('was refused and has certainly created no job if it says %j', async (body, said) => {
		fixture.answerWith('createJob', body);
		const result = await fixture.engine.run({ parameters: create() });
		expect(result.error?.message).toBe(`The service refused to create the job: ${said}`);
		expect(result.error?.description).toMatch(/^Check this node's fields\.\nThe service says: /);
		expect(contextOf(result)).toMatchObject({ jobMayExist: false, httpStatus: 200 });
		expect(callsOf('createJob')).toHaveLength(1);
	});

	test.each<[unknown]>([
		[{ success: false, uid: 'j1' }],
		[{ success: false, data: { metadata: { uid: 'j1' } } }],
		[{ success: false, result: { jobId: 17 }, message: 'could not be started' }],
		[{ code: 500, message: 'boom' }],
		[{ status: 'error', message: 'quota used up' }],
		[{ results: [{ success: false }] }],
	])('may have created a job if it says %j', async (body) => {
		fixture.answerWith('createJob', body);
		const result = await fixture.engine.run({ parameters: create() });
		expect(result.error?.message).toMatch(/instead of a job; the job may exist$/);
		expect(contextOf(result)).toMatchObject({ jobMayExist: true, httpStatus: 200 });
	});
});

test('A create may have created the job if its answer is a 201 that says that it failed', async () => {
	meets('createJob', () => answer(201, { success: false, message: 'could not be started' }));
	const result = await fixture.engine.run({ parameters: create() });
	expect(contextOf(result)).toMatchObject({ jobMayExist: true, httpStatus: 201 });
});

test('A job may exist after a 503 with Retry-After whose text may be a part of a page', async () => {
	const part = answer(503, '<head><title>503 Backend fetch failed', { 'retry-after': '1' });
	meets('createJob', () => part);
	const result = await fixture.engine.run({ parameters: create() });
	expect(contextOf(result)).toMatchObject({ jobMayExist: true });
	expect(callsOf('createJob')).toHaveLength(1);
});

test('A create succeeds if its response has a job and also says that something failed', async () => {
	const job = { metadata: { uid: 'j7' }, displayName: 'Report' };
	fixture.answerWith('createJob', { ...job, success: false, errors: ['No room for the report'] });
	const { items } = await fixture.succeeds(create());
	expect(items).toMatchObject([{ json: job }]);
});

test.each(['login', 'listClusters'] as const)(
	'The error after a 407 to %s says that a proxy requires a login',
	async (of) => {
		meets(of, () => answer(407));
		const { error } = await fixture.engine.run({ parameters: getAll() });
		expect(error?.message).toMatch(/proxy/i);
		expect(error?.description).toMatch(/HTTPS_PROXY/);
		expect(`${error?.message} ${error?.description}`).not.toMatch(/refused the login|Password/);
	},
);
