import type { IDataObject } from 'n8n-workflow';

import { setTimeout as sleep } from 'node:timers/promises';

import type * as Jobs from '../../nodes/JobOrchestration/service/calls/jobs';
import type { Fault, When } from '../../sandbox';
import { batch, contextOf, itemOf } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { HOUR_MS, MINUTE_MS, pass } from '../support/clock';
import { change, create, credentialFor, getAll, newSandbox, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * Whatever a service answers to an expired token, the node logs in again and repeats no create that may have worked. A
 * valid token costs no unnecessary logins. It isn't known which status or text a service uses for an expired token.
 */

const { fixture, logins, healthChecks, logInBefore } = useTokens();

const onError = 'continueRegularOutput';

const creates = () => fixture.callsOf('createJob').length;
const failedIn = (items: Array<{ json: IDataObject }>) =>
	items.map(({ json }) => json).filter(({ error }) => error !== undefined);

/** Makes the stored token two minutes old. From then on, every request with this token gets the fault. */
async function expireBy(fault: Fault): Promise<void> {
	const old = await logInBefore(2 * MINUTE_MS);
	fixture.meets('others', ({ token }) => (token === old ? fault : undefined));
}

const page: Fault = { kind: 'html', when: 'beforeActing' };
const redirect = (status: number, location: string) => answer(status, undefined, { location });

/** Answers to an expired token, and whether a create may be sent again after them. */
const expired: Array<[string, Fault, { isResent: boolean }]> = [
	// 419, 440 and 498 mean an expired session or token in Laravel, IIS and ArcGIS.
	...[401, 403, 419, 440, 498].map((status): (typeof expired)[number] => [
		String(status),
		answer(status),
		{ isResent: true },
	]),
	['400 invalid_token', answer(400, { error: 'invalid_token' }), { isResent: true }],
	['400 in French', answer(400, { message: 'jeton périmé' }), { isResent: true }],
	['412 as text', answer(412, 'da capo'), { isResent: true }],
	['307 to a login page', redirect(307, '/login'), { isResent: true }],
	['308 to another host', redirect(308, 'http://127.0.0.1:9/start'), { isResent: true }],
	['500 JWT expired', answer(500, { message: 'JWT expired' }), { isResent: false }],
	['501', answer(501), { isResent: false }],
	['302 to a page of its own', redirect(302, '/welcome'), { isResent: false }],
	['a page', page, { isResent: false }],
	['200 with an error in it', answer(200, { success: false, msg: '登录' }), { isResent: false }],
];

describe.each(expired)(
	'If the service answers an expired token with %s, the node',
	(_, fault, { isResent }) => {
		test('renews it for a list and a state change, and sends them again', async () => {
			hurry();
			await expireBy(fault);
			const { items } = await fixture.succeeds(getAll());
			expect(items.length).toBeGreaterThan(0);
			expect([logins(), healthChecks()]).toEqual([1, 0]);

			await expireBy(fault);
			const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'none' }) });
			expect(contextOf(result)).toMatchObject({ httpStatus: 404 });
			expect([logins(), healthChecks()]).toEqual([1, 0]);
		});

		test('renews it with one login for two executions, and never repeats a create that may have worked', async () => {
			hurry();
			await expireBy(fault);
			const run = async () =>
				await fixture.engine.run({ parameters: create(), onError }, numbered(8));
			const both = (await Promise.all([run(), run()])).flatMap(({ items }) => items);
			const failed = failedIn(both);
			expect(fixture.sandbox.store.jobs.size).toBe(16 - failed.length);
			if (isResent) expect(failed).toEqual([]);
			else expect(creates()).toBe(16);
			expect(failed.length > 0).toBe(!isResent);
			expect(failedIn((await run()).items)).toEqual([]);
			expect(logins()).toBe(1);
		});

		test('renews it for two HTTP Request nodes, if n8n treats the answer as an error', async () => {
			await expireBy(fault);
			const { engine } = fixture;
			await Promise.allSettled([engine.createAsOtherNode(), engine.createAsOtherNode()]);
			const isError = !('status' in fault) || fault.status !== 200;
			const isSeen = fault !== page && isError;
			expect(logins()).toBe(isSeen ? 1 : 0);
			expect(fixture.sandbox.store.jobs.size).toBe(isSeen ? 2 : 0);
			expect(creates()).toBe(isSeen ? 4 : 2);
		});
	},
);

test.each([
	...expired.map(([name, fault, { isResent }]) => [name, 10, 30, fault, isResent] as const),
	['401', 50, 30, answer(401), true],
	['401', 10, 70, answer(401), true],
	['403', 50, 30, answer(403), true],
	['403', 10, 70, answer(403), true],
] as const)(
	'If the service answers an expired token with %s, the node renews it in mid-batch with %i requests in flight, at item %i of 75',
	async (_, concurrency, item, fault, isResent) => {
		const { tokens } = fixture.sandbox;
		await logInBefore(2 * MINUTE_MS);
		// The answers come in another order than the requests.
		const late = (when: When): Fault => ({
			...{ kind: 'wait', when, until: sleep(50 + 100 * Math.random()) },
		});
		fixture.meets('createJob', ({ token = '', nOfOperation }) => {
			if (nOfOperation === item) tokens.expireAll();
			return tokens.isGood(token) ? late('afterActing') : [late('beforeActing'), fault];
		});
		const parameters = create({ options: { concurrency } });
		const { items } = await fixture.engine.run({ parameters, onError }, numbered(75));
		const failed = failedIn(items);
		if (isResent) expect(failed).toEqual([]);
		expect(fixture.sandbox.store.jobs.size).toBe(75 - failed.length);
		expect(failed.length).toBeLessThanOrEqual(concurrency);
	},
);

test("the node never repeats a verb that isn't idempotent and may have worked, even if its token has expired", async () => {
	const jobs = jest.requireActual<typeof Jobs>(
		'../../dist/nodes/JobOrchestration/service/calls/jobs',
	);
	const { changeJobState } = jobs;
	const spy = jest.spyOn(jobs, 'changeJobState');
	spy.mockImplementation((verb) => changeJobState({ ...verb, idempotent: false }));
	await expireBy(answer(500));
	const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'none' }) });
	expect(fixture.callsOf('changeJobState')).toHaveLength(1);
	expect(contextOf(result)).toMatchObject({ httpStatus: 500 });
	// The node only logs in for the next request.
	expect(logins()).toBe(0);
	await fixture.engine.run({ parameters: getAll() });
	expect(logins()).toBe(1);
});

describe('If the service fails for a moment and the token is old', () => {
	test('a state change is sent again without a login', async () => {
		hurry();
		const token = await logInBefore(10 * MINUTE_MS);
		fixture.meets('changeJobState', ({ nOfOperation }) =>
			nOfOperation <= 2 ? answer(500) : undefined,
		);
		const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'none' }) });
		expect(contextOf(result)).toMatchObject({ httpStatus: 404 });
		expect(fixture.callsOf('changeJobState').map((call) => call.token)).toEqual(
			new Array(3).fill(token),
		);
		expect(logins()).toBe(0);
	});

	test.each([
		['the next request logs in', undefined],
		['the old token stays in use if that login fails', answer(500)],
	])('a create is uncertain, and %s', async (_, fault) => {
		hurry();
		const token = await logInBefore(10 * MINUTE_MS);
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'login') return fault;
			return operation === 'createJob' && nOfOperation === 1 ? answer(500) : undefined;
		});
		const result = await fixture.engine.run({ parameters: create() });
		expect(contextOf(result)).toMatchObject({ httpStatus: 500, jobMayExist: true });
		expect(result.error?.description).not.toMatch(/login/i);
		expect([creates(), logins()]).toEqual([1, 0]);
		await fixture.succeeds(create());
		expect([creates(), logins()]).toEqual([2, 1]);
		const [, second] = fixture.callsOf('createJob');
		expect(second?.token === token).toBe(fault !== undefined);
	});
});

describe('If the service refuses a job', () => {
	const aboutTheJob: Array<[string, Fault, string]> = [
		...[
			'Git credentials are expired or invalid',
			'Token bucket is invalid for this template',
			'Die Anmeldung der Vorlage ist abgelaufen',
		].map((message): [string, Fault, string] => [message, answer(400, { message }), message]),
		['403', answer(403, { message: 'invalid_token: quota' }), 'invalid_token: quota'],
		['500', answer(500, { error: 'jwt expired in step 2' }), 'jwt expired in step 2'],
		['302', redirect(302, '/jobs/sso-account-1'), '/jobs/sso-account-1'],
	];

	test.each(aboutTheJob)(
		'the error concerns the job, and costs at most one login a minute: %s',
		async (_, fault, said) => {
			await logInBefore(10 * MINUTE_MS);
			fixture.meets('createJob', fault);
			for (let run = 0; run < 3; run += 1) {
				const { error } = await fixture.engine.run({ parameters: create() });
				expect(`${String(error?.message)} ${String(error?.description)}`).toContain(said);
			}
			expect(logins()).toBeLessThanOrEqual(1);
			expect(creates()).toBeLessThanOrEqual(4);
			expect(healthChecks()).toBeLessThanOrEqual(1);
		},
	);

	test('a batch whose other jobs are created costs neither a login nor a health check', async () => {
		await logInBefore(10 * MINUTE_MS);
		await fixture.engine.run({ parameters: create() }, numbered(300));
		expect(fixture.sandbox.calls).toHaveLength(300);
	});

	test.each([
		['the user may list clusters', 403, false],
		['the user may not list clusters either', 403, true],
		['the user may list clusters', 401, false],
		['the user may not list clusters either', 401, true],
	])('the other jobs are created with few logins if %s (%i)', async (_, status, isListRefused) => {
		hurry();
		await logInBefore(2 * MINUTE_MS);
		fixture.sandbox.faults.plan(({ path, operation }) => {
			const isRefused =
				path.includes('/theirs/') || (operation === 'listClusters' && isListRefused);
			return isRefused ? answer(status, { message: 'not yours' }) : undefined;
		});
		const parameters = create({ namespace: '={{ $json.n % 5 === 0 ? "theirs" : "default" }}' });
		const { items } = await fixture.engine.run({ parameters, onError }, numbered(200));
		const failed = failedIn(items);
		expect(failed).toHaveLength(40);
		for (const { error } of failed) expect(error).toMatchObject({ httpStatus: status });
		expect(fixture.sandbox.store.jobs.size).toBe(160);
		expect(logins()).toBeLessThanOrEqual(3);
		expect(healthChecks()).toBe(0);
	});

	test('the others are created with the old token while logins fail, and the first fails in its own words', async () => {
		hurry();
		const token = await logInBefore(10 * MINUTE_MS);
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'login') return answer(500);
			return operation === 'createJob' && nOfOperation === 1
				? answer(400, { message: 'no such template' })
				: undefined;
		});
		const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(200));
		const failed = failedIn(items);
		expect(failed).toHaveLength(1);
		expect(failed[0]?.message).toContain('no such template');
		expect(new Set(fixture.callsOf('createJob').map((call) => call.token))).toEqual(
			new Set([token]),
		);
		expect(logins()).toBe(1);
	});

	test('it costs at most one login per minute, if the service refuses all items', async () => {
		await logInBefore(2 * MINUTE_MS);
		const forbidden = answer(403, { message: 'no rights here' });
		fixture.meets('others', forbidden);
		for (let run = 0; run < 5; run += 1) {
			const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(20));
			for (const { error } of failedIn(items)) expect(error).toMatchObject({ httpStatus: 403 });
		}
		expect(logins()).toBe(1);
	});
});

describe('If the user may not list work clusters, and the service says so by 401', () => {
	const list: Array<[string, () => Promise<unknown>]> = [
		['Get Many', async () => await fixture.engine.run({ parameters: getAll() })],
		['the drop-down', async () => await fixture.engine.listSearch('searchClusters')],
		['an HTTP Request node', async () => await fixture.engine.listAsOtherNode()],
	];
	test.each(list)(
		'the jobs of other executions are created after and during %s',
		async (_, ask) => {
			hurry();
			await logInBefore(0);
			fixture.meets('listClusters', answer(401, { message: 'no permission' }));
			const creating = async () =>
				await fixture.engine.run({ parameters: create(), onError }, numbered(10));
			const [, during] = await Promise.all([ask().catch(() => undefined), creating()]);
			const after = await creating();
			expect([during, after].flatMap(({ items }) => failedIn(items))).toEqual([]);
			expect(logins()).toBeLessThanOrEqual(4);
		},
	);
});

test('a token that expires is renewed each time, even if the service has refused all requests with it', async () => {
	hurry();
	const { tokens } = fixture.sandbox;
	fixture.meets('createJob', ({ token = '' }) => (tokens.isGood(token) ? answer(400) : undefined));
	for (let run = 1; run <= 5; run += 1) {
		const result = await fixture.engine.run({ parameters: create() });
		expect(contextOf(result)).toMatchObject({ httpStatus: 400 });
		expect(logins()).toBe(run);
		pass(MINUTE_MS);
		tokens.expireAll();
	}
});

test('the error says that a login for a new token was never answered, and does not mention a cancel', async () => {
	await logInBefore(HOUR_MS);
	const { orRunOut } = hurry();
	fixture.meets('login', () => orRunOut({ kind: 'stall', when: 'beforeActing' }));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.message).toMatch(/^The service didn't answer the login within/);
});

describe('A batch whose token expires', () => {
	const parameters = batch({ concurrency: 2 });
	const names = () => [...fixture.sandbox.store.jobs.values()].map((job) => job.displayName);
	/** Returns a fault that delays a call until the job of this item exists. */
	const wait = (when: When, item: number): Fault => ({
		...{ kind: 'wait', when, until: until(() => names().includes(`Job ${item}`)) },
	});

	test('logs in once, even if it begins with an older token and the newest token has expired, too', async () => {
		await logInBefore(2 * MINUTE_MS);
		const { storedToken } = fixture.engine;
		fixture.sandbox.tokens.expireAll();
		await logInBefore(2 * MINUTE_MS);
		fixture.sandbox.tokens.expireAll();
		fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), accessToken: storedToken });
		fixture.sandbox.clearCalls();
		const options = { maxRetries: 0 };
		const { error } = await fixture.engine.run({ parameters: create({ options }) }, numbered(30));
		expect(error?.message).toBeUndefined();
		expect(logins()).toBe(1);
	});

	test('continues with the new token, even if other items ended with the old one in the meantime', async () => {
		const old = await logInBefore(2 * MINUTE_MS);
		fixture.meets('createJob', (call) => {
			if (call.token !== old) return undefined;
			// When item 0 has ended, item 2 begins with the old token.
			if (itemOf(call) === 1) return [wait('beforeActing', 2), { kind: 'expireTokens' }];
			return itemOf(call) === 2 ? wait('afterActing', 3) : undefined;
		});
		const { items } = await fixture.engine.run({ parameters, onError }, numbered(6));
		expect(failedIn(items)).toEqual([]);
		expect(names()).toHaveLength(6);
		const rejected = fixture.callsOf('createJob').filter(({ status }) => status === 401);
		expect(rejected.map(itemOf)).toEqual([1]);
	});

	test('repeatedly loses no item, and needs one login each time', async () => {
		hurry();
		const sandbox = await newSandbox({ latency: 5 });
		fixture.engine.saveCredential(credentialFor(sandbox));
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation % 60 === 0 ? { kind: 'expireTokens' } : undefined,
		);
		const many = create({ options: { concurrency: 20 } });
		const { items } = await fixture.engine.run({ parameters: many, onError }, numbered(200));
		expect(failedIn(items)).toEqual([]);
		expect(sandbox.store.jobs.size).toBe(200);
		const sent = sandbox.calls.filter(({ operation }) => operation === 'createJob').length;
		expect(sandbox.tokens.issued).toBeLessThanOrEqual(1 + Math.floor(sent / 60));
	});
});
