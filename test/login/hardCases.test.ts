import type { Fault } from '../../sandbox';
import { batch, continuing, gate, itemOf, turns } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer, onlyAt } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * What a batch costs, and how many of its jobs are made, whatever happens to its tokens. The rows are those of the
 * hardest cases: each was seen to break when a token was judged by less than what the session knows.
 */

const { fixture, jobs, logins, healthChecks, run, plan, logInBefore, beforeReads } = useTokens();
const { callsOf, meets } = fixture;

const wrong = answer(401, { message: 'not you' });
/** Makes the service forget its tokens. */
const forgotten: Fault = { kind: 'expireTokens' };

/** Makes calls with a token succeed only from `fromMs` to `toMs` after it was first sent, by the clock of the node. */
function acceptBetween(calls: 'createJob' | 'others', fromMs: number, toMs: number): void {
	const issuedAt = new Map<string, number>();
	meets(calls, ({ token = '' }) => {
		const at = issuedAt.get(token) ?? performance.now();
		issuedAt.set(token, at);
		const age = performance.now() - at;
		return age < fromMs || age >= toMs ? wrong : undefined;
	});
}

/** Makes one of two replicas of the service learn a token ten seconds after its login. It is five seconds old now. */
async function replicate(): Promise<void> {
	await logInBefore(5_000);
	const startedAt = performance.now();
	meets('createJob', ({ nOfOperation }) =>
		nOfOperation % 2 === 0 && performance.now() < startedAt + 5_000 ? wrong : undefined,
	);
}

/** Makes the service forget its tokens in the middle of a batch, and answer the next login with 500. */
async function failOneLogin(): Promise<void> {
	await logInBefore(2 * MINUTE_MS);
	plan({ createJob: onlyAt(20, forgotten), login: onlyAt(1, answer(500)) });
}

test.each<
	[what: string, happens: () => void | Promise<void>, mostLogins: (creates: number) => number]
>([
	[
		'is forgotten in the middle of a batch, after seconds',
		() => meets('createJob', onlyAt(20, forgotten)),
		() => 2,
	],
	['is forgotten, and the next login is answered with 500', failOneLogin, () => 2],
	[
		'is forgotten at every tenth create',
		() => meets('createJob', ({ nOfOperation: n }) => (n % 10 === 0 ? forgotten : undefined)),
		(creates) => 1 + Math.ceil(creates / 10),
	],
	['becomes valid 8 s after its login', () => acceptBetween('createJob', 8_000, Infinity), () => 1],
	['is not known to one of two replicas for 10 s', replicate, () => 0],
])('If a token %s, all jobs are created within the Concurrency', async (_, happens, mostLogins) => {
	hurry();
	await happens();
	expect((await run(40, { concurrency: 4 })).failed).toEqual([]);
	expect(jobs()).toBe(40);
	expect(logins()).toBeLessThanOrEqual(mostLogins(callsOf('createJob').length));
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(5);
});

test('If each token lives for five seconds, a batch of forty seconds is made, and no job twice', async () => {
	const { advance } = hurry();
	acceptBetween('others', 0, 5_000);
	for (let part = 0; part < 8; part += 1) {
		expect((await run(3)).failed).toEqual([]);
		advance(5_000);
		pass(5_000);
	}
	expect(jobs()).toBe(24);
});

test('If a token becomes valid 20 s after its login, the error gives the reason, and a later execution succeeds without a login', async () => {
	const { advance } = hurry();
	acceptBetween('createJob', 20_000, Infinity);
	const { failed } = await run(12);
	expect(failed).toHaveLength(12);
	expect(failed[0]).toMatchObject({
		message: 'The service rejected the token that it had just issued: not you',
		error: {
			description: expect.stringContaining('clocks') as unknown,
			...{ httpStatus: 401, jobMayExist: false },
		},
	});
	expect([jobs(), logins()]).toEqual([0, 1]);
	pass(30_000);
	advance(30_000);
	expect((await run(3)).failed).toEqual([]);
	expect([jobs(), logins()]).toEqual([3, 1]);
});

test.each<[which: string, status: number, ageMs: number, isTheirs: (item: number) => boolean]>([
	['every second one of 60 items is', 401, 0, (n) => n % 2 === 0],
	['the first 30 of 60 items are', 401, 0, (n) => n < 30],
	['the last 30 of 60 items are', 401, 0, (n) => n >= 30],
	['every second one of 60 items is', 401, 2 * MINUTE_MS, (n) => n % 2 === 0],
	['every second one of 60 items is', 403, 2 * MINUTE_MS, (n) => n % 2 === 0],
])(
	'If %s always answered with %i, and the token is %i ms old, this costs three logins and 15 seconds at most, and the others are made',
	async (_, status, ageMs, isTheirs) => {
		hurry();
		await logInBefore(ageMs);
		const theirs = answer(status, { message: 'not yours' });
		meets('createJob', (call) => (isTheirs(itemOf(call)) ? theirs : undefined));
		const startedAt = performance.now();
		const { failed } = await run(60);
		// The time that the test itself takes on a busy machine counts, too.
		expect(performance.now() - startedAt).toBeLessThan(20_000);
		expect([failed.length, jobs()]).toEqual([30, 30]);
		for (const { error } of failed) expect(error).toMatchObject({ httpStatus: status });
		expect(logins()).toBeLessThanOrEqual(3);
		// After a 401, a health check may show that the token is valid. No other answer leads to one.
		if (status !== 401) expect(healthChecks()).toBe(0);
	},
);

test('If a create gets a 500, and the login takes longer than the Timeout, the others go on with the old token', async () => {
	const old = await logInBefore(2 * MINUTE_MS);
	const held = gate();
	plan({ login: () => held.fault, createJob: onlyAt(3, answer(500)) });
	const { failed } = await run(12, { timeout: 2_000, concurrency: 2 });
	held.open();
	expect([failed.length, jobs()]).toEqual([1, 11]);
	expect(new Set(callsOf('createJob').map(({ token }) => token))).toEqual(new Set([old]));
});

test('A login that has failed while the old token was still good fails no request after the end of this token', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	const faults = new Map([
		[3, answer(400)],
		[10, forgotten],
	]);
	plan({
		login: onlyAt(1, answer(500)),
		createJob: ({ nOfOperation }) => faults.get(nOfOperation),
	});
	const { failed } = await run(20, { concurrency: 2 });
	expect([failed.length, jobs(), logins()]).toEqual([1, 19, 2]);
});

test('A request that is always answered with 401 ends, even if each login returns the same token', async () => {
	hurry();
	const token = await logInBefore(2 * MINUTE_MS);
	const stop = { ...continuing(), parameters: change('stop', { jobId: 'gone' }) };
	plan({
		login: () => answer(200, { access_token: token }),
		changeJobState: () => answer(404),
		createJob: () => {
			// Between its sendings, the service gives another request an answer that only a valid token gets.
			void fixture.engine.run(stop);
			return wrong;
		},
		listClusters: () => wrong,
	});
	expect((await run()).failed).toHaveLength(1);
	expect(callsOf('createJob').length).toBeLessThanOrEqual(9);
});

test('A login that was not sent, because its run was cancelled, counts as none', async () => {
	const old = await logInBefore(2 * MINUTE_MS);
	meets('createJob', ({ token }) => (token === old ? answer(403) : undefined));
	const running = fixture.engine.start([{ parameters: batch() }], numbered(1));
	beforeReads((read) => {
		// The first read is that of the item, the second one that of the search for a token.
		if (read === 2) running.cancel();
	});
	await running.result;
	await turns();
	expect(logins()).toBe(0);
	expect((await run()).failed).toEqual([]);
	expect(logins()).toBe(1);
});

test('Answers about the request show that the token is valid, though no request succeeds', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	for (let round = 0; round < 4; round += 1) {
		fixture.sandbox.tokens.expireAll();
		const { error } = await fixture.engine.run({ parameters: change('stop', { jobId: 'gone' }) });
		expect(error?.message).toMatch(/^No job 'gone'/);
		pass(30_000);
	}
});

test.each([
	['waits for a token that is not valid yet', 0],
	['waits for a login', 2 * MINUTE_MS],
])('After a cancel, nothing is sent any more while a request %s', async (_, age) => {
	await logInBefore(age);
	// The node waits for a random part of a second before the login.
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const held = gate();
	plan({ login: () => held.fault, createJob: () => wrong });
	const running = fixture.engine.start([{ parameters: batch() }], numbered(1));
	await until(() => callsOf('createJob').some(({ status }) => status === 401));
	await until(() => age === 0 || logins() === 1);
	hurry();
	running.cancel();
	await running.result;
	held.open();
	await turns();
	expect(callsOf('createJob')).toHaveLength(1);
	expect(logins()).toBe(age === 0 ? 0 : 1);
});
