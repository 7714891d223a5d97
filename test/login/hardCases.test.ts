import { gate, itemOf, turns } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, create, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * What a batch costs, and how many of its jobs are made, whatever happens to its tokens. The rows are those of the
 * hardest cases: each was seen to break when a token was judged by less than what the session knows.
 */

const { fixture, logins, healthChecks, logInBefore, beforeReads } = useTokens();
const { callsOf, meets } = fixture;
const jobs = () => fixture.sandbox.store.jobs.size;

const onError = 'continueRegularOutput';
const wrong = answer(401, { message: 'not you' });
const parameters = create({ displayName: '=Job {{ $json.n }}' });

/** Creates a batch of jobs. Returns its failed items, and how many seconds it took by the node's clock. */
async function batch(count: number, options: Record<string, number> = {}) {
	const startedAt = performance.now();
	const node = { parameters: { ...parameters, options }, onError } as const;
	const { items } = await fixture.engine.run(node, numbered(count));
	const failed = items.filter(({ json }) => json.error !== undefined);
	return { failed, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Makes creates with a token succeed only from `fromMs` to `toMs` after it was first sent, by the clock of the node. */
function acceptBetween(fromMs: number, toMs: number): void {
	const issuedAt = new Map<string, number>();
	meets('createJob', ({ token = '' }) => {
		const at = issuedAt.get(token) ?? performance.now();
		issuedAt.set(token, at);
		const age = performance.now() - at;
		return age < fromMs || age >= toMs ? wrong : undefined;
	});
}

/** Makes the service forget its tokens at some of the creates, which are counted from 1. */
function forgetAt(isSo: (create: number) => boolean): void {
	meets('createJob', ({ nOfOperation }) =>
		isSo(nOfOperation) ? { kind: 'expireTokens' } : undefined,
	);
}

/** Makes one of two replicas of the service learn a token ten seconds after its login. It is five seconds old now. */
async function replicate(): Promise<void> {
	await logInBefore(5_000);
	const startedAt = performance.now();
	meets('createJob', ({ nOfOperation }) =>
		nOfOperation % 2 === 0 && performance.now() < startedAt + 5_000 ? wrong : undefined,
	);
}

test.each<
	[what: string, happens: () => void | Promise<void>, mostLogins: (creates: number) => number]
>([
	[
		'is forgotten in the middle of a batch, after seconds',
		() => forgetAt((n) => n === 20),
		() => 2,
	],
	[
		'is forgotten at every tenth create',
		() => forgetAt((n) => n % 10 === 0),
		(creates) => 1 + Math.ceil(creates / 10),
	],
	['becomes valid 8 s after its login', () => acceptBetween(8_000, Infinity), () => 1],
	['is not known to one of two replicas for 10 s', replicate, () => 0],
])('If a token %s, all jobs are created within the Concurrency', async (_, happens, mostLogins) => {
	hurry();
	await happens();
	expect((await batch(40, { concurrency: 4 })).failed).toEqual([]);
	expect(jobs()).toBe(40);
	expect(logins()).toBeLessThanOrEqual(mostLogins(callsOf('createJob').length));
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(5);
});

test('If each token lives for five seconds, a batch of forty seconds is made, and no job twice', async () => {
	hurry();
	acceptBetween(0, 5_000);
	for (let part = 0; part < 8; part += 1) {
		expect((await batch(3)).failed).toEqual([]);
		jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
		pass(5_000);
	}
	expect(jobs()).toBe(24);
});

test('If a token becomes valid 20 s after its login, the error gives the reason, and a later execution succeeds without a login', async () => {
	hurry();
	acceptBetween(20_000, Infinity);
	const { failed } = await batch(12);
	expect(failed).toHaveLength(12);
	expect(failed[0]?.json).toMatchObject({
		message: 'The service rejected the token that it had just issued: not you',
		error: {
			description: expect.stringContaining('clocks') as unknown,
			...{ httpStatus: 401, jobMayExist: false },
		},
	});
	expect([jobs(), logins()]).toEqual([0, 1]);
	pass(30_000);
	jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 30_000);
	expect((await batch(3)).failed).toEqual([]);
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
		const { failed, seconds } = await batch(60);
		expect([failed.length, jobs()]).toEqual([30, 30]);
		for (const { json } of failed) expect(json.error).toMatchObject({ httpStatus: status });
		expect(logins()).toBeLessThanOrEqual(3);
		// After a 401, a health check may show that the token is valid. No other answer leads to one.
		if (status !== 401) expect(healthChecks()).toBe(0);
		// The time that the test itself takes on a busy machine counts, too.
		expect(seconds).toBeLessThan(20);
	},
);

test('If a login in the middle of a batch is answered with 500 once, all jobs are made', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'createJob' && nOfOperation === 20) fixture.sandbox.tokens.expireAll();
		return operation === 'login' && nOfOperation === 1 ? answer(500) : undefined;
	});
	const { failed } = await batch(60);
	expect([failed, jobs(), logins()]).toEqual([[], 60, 2]);
});

test('If a create gets a 500, and the login takes longer than the Timeout, the others go on with the old token', async () => {
	const old = await logInBefore(2 * MINUTE_MS);
	const held = gate();
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login') return held.fault;
		return nOfOperation === 3 ? answer(500) : undefined;
	});
	const { failed } = await batch(12, { timeout: 2_000, concurrency: 2 });
	held.open();
	expect([failed.length, jobs()]).toEqual([1, 11]);
	expect(new Set(callsOf('createJob').map(({ token }) => token))).toEqual(new Set([old]));
});

test('A login that has failed while the old token was still good fails no request after the end of this token', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	const { faults, tokens } = fixture.sandbox;
	faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login') return nOfOperation === 1 ? answer(500) : undefined;
		if (operation === 'createJob' && nOfOperation === 10) tokens.expireAll();
		return nOfOperation === 3 ? answer(400) : undefined;
	});
	const { failed } = await batch(20, { concurrency: 2 });
	expect([failed.length, jobs(), logins()]).toEqual([1, 19, 2]);
});

test('A request that is always answered with 401 ends, even if each login returns the same token', async () => {
	hurry();
	const token = await logInBefore(2 * MINUTE_MS);
	const { engine, sandbox } = fixture;
	const stop = { parameters: change('stop', { jobId: 'gone' }), onError } as const;
	sandbox.faults.plan(({ operation, path }) => {
		if (operation === 'login') return answer(200, { access_token: token });
		if (operation !== 'createJob') return path.includes('gone') ? answer(404) : wrong;
		// Between its sendings, the service gives another request an answer that only a valid token gets.
		void engine.run(stop);
		return wrong;
	});
	expect((await batch(1)).failed).toHaveLength(1);
	expect(callsOf('createJob').length).toBeLessThanOrEqual(9);
});

test('As a tool, a call goes on with the old token if a login fails after the failure of another call', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' || nOfOperation === 1 ? answer(500) : undefined,
	);
	const tool = { parameters: create(), onError } as const;
	const { answers } = await fixture.engine.callTool(tool, [{}, {}, {}]);
	expect(answers.map((text) => text.includes('"uid"'))).toEqual([false, true, true]);
});

test('A login that was not sent, because its run was cancelled, counts as none', async () => {
	const old = await logInBefore(2 * MINUTE_MS);
	meets('createJob', ({ token }) => (token === old ? answer(403) : undefined));
	const running = fixture.engine.start([{ parameters }], numbered(1));
	beforeReads((read) => {
		// The first read is that of the item, the second one that of the search for a token.
		if (read === 2) running.cancel();
	});
	await running.result;
	await turns();
	expect(logins()).toBe(0);
	expect((await batch(1)).failed).toEqual([]);
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
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? held.fault : wrong));
	const running = fixture.engine.start([{ parameters }], numbered(1));
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
