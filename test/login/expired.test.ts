import { setTimeout as sleep } from 'node:timers/promises';

import type { Fault, When } from '../../sandbox';
import { contextOf } from '../reliability/batch';
import { answer } from '../support/answer';
import { MINUTE_MS } from '../support/clock';
import { change, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * Whatever a service answers to an expired token, the node logs in again and repeats no create that may have worked. A
 * valid token costs no unnecessary logins. It isn't known which status or text a service uses for an expired token.
 */

const { fixture, jobs, logins, healthChecks, run, logInBefore } = useTokens();

const creates = () => fixture.callsOf('createJob').length;

/** Makes the stored token two minutes old. From then on, every request with this token gets the fault. */
async function expireBy(fault: Fault): Promise<void> {
	const old = await logInBefore(2 * MINUTE_MS);
	fixture.meets('others', ({ token }) => (token === old ? fault : undefined));
}

const page: Fault = { kind: 'html', when: 'beforeActing' };
const redirect = (status: number, location: string) => answer(status, undefined, { location });

/** Answers to an expired token, and whether a create is sent again after them. token.test.ts has more statuses. */
const expired: Array<[name: string, fault: Fault, isResent: boolean]> = [
	['401', answer(401), true],
	['403', answer(403), true],
	['308 to another host', redirect(308, 'http://127.0.0.1:9/start'), true],
	['500 JWT expired', answer(500, { message: 'JWT expired' }), false],
	['302 to a page of its own', redirect(302, '/welcome'), false],
	['a page', page, false],
	['200 with an error in it', answer(200, { success: false, msg: '登录' }), false],
];

test.each(expired)(
	'If the service answers an expired token with %s, the node renews it with one login, and sends a list, a state change, and each create that certainly failed again',
	async (_, fault, isResent) => {
		hurry();
		await expireBy(fault);
		const { items } = await fixture.succeeds(getAll());
		expect(items.length).toBeGreaterThan(0);
		expect([logins(), healthChecks()]).toEqual([1, 0]);

		await expireBy(fault);
		const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'none' }) });
		expect(contextOf(result)).toMatchObject({ httpStatus: 404 });
		expect([logins(), healthChecks()]).toEqual([1, 0]);

		await expireBy(fault);
		const both = await Promise.all([run(5), run(5)]);
		const failed = both.flatMap((ended) => ended.failed);
		expect(jobs()).toBe(10 - failed.length);
		expect(failed.length > 0).toBe(!isResent);
		if (!isResent) expect(creates()).toBe(10);
		expect((await run(5)).failed).toEqual([]);
		expect(logins()).toBe(1);
	},
);

test('If the service answers the expired token of two HTTP Request nodes with 401, both requests are sent again after one login', async () => {
	await expireBy(answer(401));
	const { engine } = fixture;
	await Promise.all([engine.createAsOtherNode(), engine.createAsOtherNode()]);
	expect([logins(), creates(), jobs()]).toEqual([1, 4, 2]);
});

test.each<[name: string, concurrency: number, fault: Fault, isResent: boolean]>([
	['401', 50, answer(401), true],
	['403', 50, answer(403), true],
	['a page', 10, page, false],
])(
	'If the service answers an expired token with %s, the node renews it in mid-batch with %i requests in flight',
	async (_, concurrency, fault, isResent) => {
		const { tokens } = fixture.sandbox;
		await logInBefore(2 * MINUTE_MS);
		// The answers come in another order than the requests.
		const late = (when: When): Fault => ({
			...{ kind: 'wait', when, until: sleep(5 + 10 * Math.random()) },
		});
		fixture.meets('createJob', ({ token = '', nOfOperation }) => {
			if (nOfOperation === 20) tokens.expireAll();
			return tokens.isGood(token) ? late('afterActing') : [late('beforeActing'), fault];
		});
		const { failed } = await run(60, { concurrency });
		if (isResent) expect(failed).toEqual([]);
		expect(jobs()).toBe(60 - failed.length);
		expect(failed.length).toBeLessThanOrEqual(concurrency);
		expect(logins()).toBe(1);
	},
);

test.each<[string, () => Promise<unknown>]>([
	['Get Many', async () => await fixture.engine.run({ parameters: getAll() })],
	['the drop-down', async () => await fixture.engine.listSearch('searchClusters')],
	['an HTTP Request node', async () => await fixture.engine.listAsOtherNode()],
])(
	'If the user may not list work clusters, and the service says so by 401, jobs are created after and during %s',
	async (_, ask) => {
		hurry();
		await logInBefore(0);
		fixture.meets('listClusters', answer(401, { message: 'no permission' }));
		const [, during] = await Promise.all([ask().catch(() => undefined), run(10)]);
		const after = await run(10);
		expect([...during.failed, ...after.failed]).toEqual([]);
		expect(logins()).toBeLessThanOrEqual(4);
	},
);
