import type { Fault } from '../../sandbox';
import { gate, itemOf, tries, turns } from '../reliability/batch';
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

const { fixture, logins, logInBefore } = useTokens();
const { callsOf, meets } = fixture;
const jobs = () => fixture.sandbox.store.jobs.size;

const onError = 'continueRegularOutput';
const wrong = answer(401, { message: 'not you' });
const parameters = create({ displayName: '=Job {{ $json.n }}' });

/** Creates a batch of jobs. Returns the number of failed items, and how many seconds it took by the node's clock. */
async function batch(count: number, options: Record<string, number> = {}) {
	const startedAt = performance.now();
	const node = { parameters: { ...parameters, options }, onError } as const;
	const { items } = await fixture.engine.run(node, numbered(count));
	const failed = items.filter(({ json }) => json.error !== undefined);
	return { failed: failed.length, seconds: (performance.now() - startedAt) / 1_000, items: failed };
}

/** Makes the service keep each token for this many milliseconds, by the clock of the node. */
function expireAfter(ms: number): void {
	const issuedAt = new Map<string, number>();
	meets('others', ({ token = '' }) => {
		const at = issuedAt.get(token) ?? performance.now();
		issuedAt.set(token, at);
		return performance.now() >= at + ms ? wrong : undefined;
	});
}

describe('If a service forgets its tokens two seconds after the login,', () => {
	beforeEach(() => void hurry());

	test('in the middle of 200 creates, all are made', async () => {
		const { tokens } = fixture.sandbox;
		meets('createJob', ({ nOfOperation }) => {
			if (nOfOperation === 100) tokens.expireAll();
			return undefined;
		});
		const { failed, seconds } = await batch(200);
		expect([failed, jobs(), logins()]).toEqual([0, 200, 2]);
		// The time that the test itself takes on a busy machine counts, too.
		expect(seconds).toBeLessThan(30);
	});

	test('between two executions, all jobs are made', async () => {
		await batch(20);
		pass(2_000);
		fixture.sandbox.tokens.expireAll();
		expect((await batch(20)).failed).toBe(0);
		expect([jobs(), logins()]).toEqual([40, 2]);
	});

	test('in the middle of 200 stops, all are stopped', async () => {
		const { items } = await fixture.engine.run({ parameters }, numbered(200));
		const uids = items.map(({ json }) => ({ uid: Object(json.metadata).uid as string }));
		let stops = 0;
		meets('changeJobState', () => {
			if ((stops += 1) === 100) fixture.sandbox.tokens.expireAll();
			return undefined;
		});
		const stop = change('stop', { jobId: '={{ $json.uid }}' });
		const { error } = await fixture.engine.run({ parameters: stop }, uids);
		expect(error?.message).toBeUndefined();
		expect(logins()).toBe(2);
	});
});

test('If each token lives for five seconds, a batch of forty seconds is made, and no job twice', async () => {
	hurry();
	expireAfter(5_000);
	for (let part = 0; part < 8; part += 1) {
		expect((await batch(10)).failed).toBe(0);
		jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
		pass(5_000);
	}
	expect(jobs()).toBe(80);
});

describe('If requests are always answered with 401,', () => {
	beforeEach(() => void hurry());

	test('200 items cost two logins and twelve seconds', async () => {
		meets('others', wrong);
		const { failed, seconds } = await batch(200);
		expect([failed, logins()]).toEqual([200, 2]);
		// The time that the test itself takes on a busy machine counts, too.
		expect(seconds).toBeLessThan(20);
	});

	test.each([
		['every second one of 400 items', (n: number) => n % 2 === 0],
		['the first 200 of 400 items', (n: number) => n < 200],
		['the last 200 of 400 items', (n: number) => n >= 200],
	])(
		'%s cost at most three logins and 15 seconds, and the others are made',
		async (_, isTheirs) => {
			fixture.meets('createJob', (call) => (isTheirs(itemOf(call)) ? wrong : undefined));
			const { failed, seconds } = await batch(400);
			expect([failed, jobs()]).toEqual([200, 200]);
			expect(logins()).toBeLessThanOrEqual(3);
			// The time that the test itself takes on a busy machine counts, too.
			expect(seconds).toBeLessThan(30);
		},
	);
});

test.each([
	['younger than ten seconds', 0],
	['older', 2 * MINUTE_MS],
])(
	'If another process has logged in, its token is found in the store, and ours is %s',
	async (_, age) => {
		await logInBefore(age);
		meets('createJob', ({ token }) => {
			if (token === 'theirs') return answer(200, { metadata: { uid: 'a' } });
			fixture.engine.storeAsOtherProcess('theirs');
			return wrong;
		});
		const { failed, seconds } = await batch(3);
		expect([failed, logins()]).toEqual([0, 0]);
		expect(seconds).toBeLessThan(1.5);
	},
);

test('A wrong password costs one login for twenty executions with three tries each', async () => {
	fixture.engine.editCredential({ password: 'wrong' });
	const node = { parameters, settings: tries() };
	await Promise.all(numbered(20).map(async () => await fixture.engine.run(node, numbered(1))));
	expect(logins()).toBe(1);
});

describe('If a login is answered with %s', () => {
	const faults: Array<[string, Fault]> = [
		['500', answer(500)],
		['408', answer(408)],
		['a page', { kind: 'html', when: 'beforeActing' }],
		['404', answer(404)],
	];
	beforeEach(() => void hurry());

	test.each(faults)('once in the middle of a batch, all jobs are made: %s', async (_, fault) => {
		await logInBefore(2 * MINUTE_MS);
		const { faults, tokens } = fixture.sandbox;
		faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'createJob' && nOfOperation === 50) tokens.expireAll();
			return operation === 'login' && nOfOperation === 1 ? fault : undefined;
		});
		const { failed } = await batch(300);
		expect([failed, jobs(), logins()]).toEqual([0, 300, 2]);
	});

	test.each(faults)(
		'always, each try makes two logins, and not one for each item: %s',
		async (_, fault) => {
			meets('login', fault);
			const node = { parameters, settings: tries() };
			const { error } = await fixture.engine.run(node, numbered(100));
			expect(error).toBeDefined();
			expect(logins()).toBe(6);
			fixture.sandbox.faults.clear();
			expect((await batch(3)).failed).toBe(0);
		},
	);
});

test('If a create gets a 500, and the login takes longer than the Timeout, the others go on with the old token', async () => {
	const old = await logInBefore(2 * MINUTE_MS);
	const held = gate();
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login') return held.fault;
		return nOfOperation === 3 ? answer(500) : undefined;
	});
	const { failed } = await batch(40, { timeout: 500, concurrency: 2 });
	held.open();
	expect([failed, jobs()]).toEqual([1, 39]);
	expect(new Set(callsOf('createJob').map(({ token }) => token))).toEqual(new Set([old]));
});

test('A login that has failed while the old token was still good fails no request after the end of this token', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	const { faults, tokens } = fixture.sandbox;
	faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login') return nOfOperation === 1 ? answer(500) : undefined;
		if (operation === 'createJob' && nOfOperation === 50) tokens.expireAll();
		return nOfOperation === 3 ? answer(400) : undefined;
	});
	const { failed } = await batch(100, { concurrency: 2 });
	expect([failed, jobs(), logins()]).toEqual([1, 99, 2]);
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
	const { failed } = await batch(1);
	expect(failed).toBe(1);
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
	const { credentials } = fixture.engine;
	const read = credentials.getDecrypted.bind(credentials);
	const running = fixture.engine.start([{ parameters }], numbered(1));
	let reads = 0;
	const reading = jest.spyOn(credentials, 'getDecrypted').mockImplementation(async (...args) => {
		// The first read is that of the item, the second one that of the search for a token.
		if ((reads += 1) === 2) running.cancel();
		return await read(...args);
	});
	await running.result;
	await turns();
	reading.mockRestore();
	expect(logins()).toBe(0);
	expect((await batch(1)).failed).toBe(0);
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

test('What is sent again with another token is within the Concurrency', async () => {
	hurry();
	await logInBefore(2 * MINUTE_MS);
	meets('createJob', ({ nOfOperation }) => {
		if (nOfOperation % 20 === 0) fixture.sandbox.tokens.expireAll();
		return undefined;
	});
	const { failed } = await batch(90, { concurrency: 3 });
	expect([failed, jobs()]).toEqual([0, 90]);
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(4);
});
