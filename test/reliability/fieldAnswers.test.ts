import type { IDataObject } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { contextOf } from './batch';

/*
 * Answers that the interface doesn't show, as services, frameworks and proxies out there send them.
 */

const fixture = useSandbox({ clusters: 25, maxPageSize: 10 });

describe('A number as an ID', () => {
	test.each([7, 0, 2 ** 53 - 1])('%i is the ID of the job for the next node', async (uid) => {
		fixture.sandbox.faults.plan(({ operation }) => {
			if (operation === 'login') return undefined;
			return answer(200, operation === 'createJob' ? { metadata: { uid } } : undefined);
		});
		const { result } = fixture.engine.start(
			[
				{ parameters: create() },
				{ parameters: change('stop', { jobId: '={{ $json.metadata.uid }}' }) },
			],
			[{}],
		);
		const { items, error, run } = await result;
		expect(error).toBeUndefined();
		const created = run.data.resultData.runData['Node 1']?.[0]?.data?.main;
		expect(created).toMatchObject([[{ json: { metadata: { uid } } }]]);
		expect(items).toMatchObject([{ json: { metadata: { uid: String(uid) }, success: true } }]);
		const path = `/api/v1/namespaces/default/jobs/${uid}/stop`;
		expect(fixture.callsOf('changeJobState')).toMatchObject([{ path }]);
	});

	test.each([2 ** 53, 1.5, -1, true])('%p names no job: it may exist', async (uid) => {
		fixture.answerWith('createJob', { metadata: { uid } });
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error?.message).toMatch(/instead of a job; the job may exist$/);
	});

	test('is listed among the jobs that were created', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation !== 'createJob') return undefined;
			return nOfOperation === 1 ? answer(200, { metadata: { uid: 7 } }) : answer(400);
		});
		const parameters = create({ options: { concurrency: 1 } });
		const { error } = await fixture.engine.run({ parameters }, [{}, {}]);
		expect(error?.description).toContain("• item 0: 7 ('Report' in namespace 'default')");
	});

	test('of a cluster is offered in the drop-down', async () => {
		fixture.answerWith('listClusters', { items: [{ metadata: { uid: 7 }, name: 'seven' }] });
		expect(await fixture.engine.listSearch('searchClusters')).toEqual({
			results: [{ name: 'seven', value: '7' }],
		});
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
		[{ success: false, message: 'job already stopped' }, '"job already stopped"'],
		[{ ok: false, grund: 'ist fort' }, '"ist fort"'],
		[{ code: 500, msg: 'job not found' }, '"job not found"'],
		[{ statusCode: 409, message: 'busy', data: null }, '"busy"'],
		[{ code: '404', msg: 'job not found' }, '{"code":"404","msg":"job not found"}'],
		[
			{ error: { code: 403, message: 'not yours' } },
			'{"error":{"code":403,"message":"not yours"}}',
		],
	])('and %j has failed, in the words of the service', async (body, said) => {
		const result = await stop(body);
		expect(result.error?.message).toMatch(/^The service refused to stop the job: [\w ]+$/);
		expect(result.error?.description).toContain(`The service says: ${said} (HTTP 200).`);
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

	test.each([
		'<!-- page --><html>',
		'  <DIV class="login">',
		'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
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

describe('A page token that has expired', () => {
	const names = (items: Array<{ json: IDataObject }>) => items.map(({ json }) => json.name);
	/** The sandbox answers 410 to these requests, counted from 1. */
	const expireAt = (...requests: number[]) =>
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters' && requests.includes(nOfOperation)
				? answer(410, { message: 'The provided continue parameter is too old', reason: 'Expired' })
				: undefined,
		);

	test.each([2, 3])('begins the list again, with each cluster once: request %i', async (at) => {
		expireAt(at);
		const parameters = getAll({ returnAll: true, options: { pageSize: 10 } });
		const { items, error } = await fixture.engine.run({ parameters });
		expect(error).toBeUndefined();
		expect(names(items)).toEqual([...fixture.sandbox.store.clusters].map(({ name }) => name));
		expect(fixture.callsOf('listClusters')).toHaveLength(at + 3);
	});

	test('is followed by a limit, too', async () => {
		expireAt(2);
		const parameters = getAll({ limit: 15, options: { pageSize: 10 } });
		const { items } = await fixture.engine.run({ parameters });
		expect(new Set(names(items)).size).toBe(15);
	});

	test('a second time is an error', async () => {
		expireAt(2, 4);
		const parameters = getAll({ returnAll: true, options: { pageSize: 10 } });
		expect(contextOf(await fixture.engine.run({ parameters }))).toMatchObject({ httpStatus: 410 });
	});

	test.each([
		['the first page', {}],
		['a page that the user names', { continue: '10' }],
	])('of %s is an error', async (_, options) => {
		expireAt(1);
		const result = await fixture.engine.run({ parameters: getAll({ returnAll: true, options }) });
		expect(contextOf(result)).toMatchObject({ httpStatus: 410 });
		expect(fixture.callsOf('listClusters')).toHaveLength(1);
	});
});
