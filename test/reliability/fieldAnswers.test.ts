import { actAndAnswer, answer } from '../support/answer';
import { change, create, useSandbox } from '../support/fixture';
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
		[{ success: false, message: 'job already stopped' }, 'job already stopped'],
		[{ success: 'false', message: 'ist fort' }, 'ist fort'],
		[{ ok: false, grund: 'ist fort' }, 'ist fort'],
		[{ error: 'not yours' }, 'not yours'],
		[{ error: { code: 403, message: 'not yours' }, data: {} }, 'not yours'],
		[{ error: true, message: 'not yours' }, 'not yours'],
		[{ success: false }, ''],
	])('and %j has failed, and its error quotes the service', async (body, said) => {
		const result = await stop(body);
		const words = said === '' ? '' : `: ${said}`;
		expect(result.error?.message).toBe(`The service refused to stop the job${words}`);
		if (said !== '') expect(result.error?.description).toContain(JSON.stringify(body));
		expect(contextOf(result)).toMatchObject({ httpStatus: 200 });
		expect(callsOf('changeJobState')).toHaveLength(1);
	});

	test.each<[unknown]>([
		...[null, false, 0, '', {}, []].map((error): [unknown] => [{ error }]),
		[{ code: 500, msg: 'job not found' }],
		[{ success: null, message: 'stopped' }],
		[{ status: { phase: 'Failed', code: 500 } }],
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

const refused = /^Check this node's fields\..*\n\nThe service says: /;
const UUID = '4f0c2a5e-8d3b-4a17-9c61-2b7e5d90f1aa';
const isUnclear = /^Before you run this item again, look on the service/;

type Row = [body: unknown, title: string, advice: RegExp, status?: number];

/** Returns a function that returns the row of a response that says that it failed, and has an ID in this field. */
const withId =
	(id: unknown) =>
	(field: string): Row => [{ success: false, [field]: id }, 'failed to create the job', isUnclear];

describe('A create that is answered with a success', () => {
	test.each<Row>([
		[{ success: false, message: 'no' }, 'refused to create the job: no', refused],
		[{ success: 'false', errors: ['no', 'No group'] }, 'refused to create the job: no', refused],
		[{ ok: false, error: { text: 'no' } }, 'refused to create the job: no', refused],
		[{ success: false, metadata: {}, errors: ['no'] }, 'refused to create the job: no', refused],
		...[
			'uid',
			'_id',
			'job_uuid',
			'job',
			'workflowJobId',
			'runId',
			'requestedJobId',
			'TASK_UID',
		].map(withId('j1')),
		...['ids', 'jobIds'].map(withId(['j1'])),
		...['jobId', 'job-id'].map(withId(7)),
		[{ ok: false, data: { metadata: { taskId: 'j1' } } }, 'failed to create the job', isUnclear],
		[{ success: false, id: { value: 'j1' } }, 'failed to create the job', isUnclear],
		[{ success: false, message: 'Job 4711 waits' }, 'failed to create the job', isUnclear],
		[
			{ success: false, message: '64b7f8c2e13a4d0012ab34cd' },
			'failed to create the job',
			isUnclear,
		],
		[{ success: false, metadata: { name: 'job-1' } }, 'failed to create the job', isUnclear],
		[{ success: false, result: UUID }, 'failed to create the job', isUnclear],
		[{ success: false, message: `Job ${UUID} waits` }, 'failed to create the job', isUnclear],
		[{ success: false, message: 'job-4f0c2a5e waits' }, 'failed to create the job', isUnclear],
		[{ ok: false, created: ['job-4f0c2a5e'] }, 'failed to create the job', isUnclear],
		[{ success: false, message: 'no', traceId: UUID }, 'refused to create the job: no', refused],
		[{ success: false, message: 'a job-level no' }, 'refused to create the job: a job', refused],
		[{ success: false, errors: ['no'], valid: 'no' }, 'refused to create the job: no', refused],
		[{ success: false, message: 'no', requestId: 'r1' }, 'refused to create the job: no', refused],
		[{ success: false, message: 'no' }, 'failed to create the job: no', isUnclear, 201],
		[{ error: 'boom' }, 'failed to create the job: boom', isUnclear],
		[{ results: [{ success: false }] }, 'answered with an object instead of a job', isUnclear],
	])('and %j has failed: the service %s', async (...[body, title, advice, status = 200]) => {
		meets('createJob', answer(status, body));
		const result = await fixture.engine.run({ parameters: create() });
		const jobMayExist = advice === isUnclear;
		expect(result.error?.message).toMatch(`The service ${title}`);
		expect(result.error?.message.endsWith('; the job may exist')).toBe(jobMayExist);
		expect(result.error?.description).toMatch(advice);
		expect(contextOf(result)).toMatchObject({ jobMayExist, httpStatus: status });
		expect(callsOf('createJob')).toHaveLength(1);
	});

	test.each([{ error: 'indexed later' }, { success: false, errors: ['No room for it'] }])(
		'and a job has created the job, even if the answer also says %j',
		async (beside) => {
			const job = { metadata: { uid: 'j1' }, displayName: 'Report' };
			fixture.answerWith('createJob', { ...job, ...beside });
			const { items } = await fixture.succeeds(create());
			expect(items).toMatchObject([{ json: job }]);
		},
	);
});
