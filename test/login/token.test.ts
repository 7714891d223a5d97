import { readFileSync } from 'node:fs';

import type { Fault } from '../../sandbox';
import { contextOf, gate } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { create, credentialFor, getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * The life of a token follows the rules in docs/architecture.md: each rule is the title of a test.
 */

const { fixture, logins, healthChecks, logInBefore } = useTokens();
const { callsOf } = fixture;

const onError = 'continueRegularOutput';
const page = '<!DOCTYPE html><html><body>Access denied</body></html>';
const asPage = { 'content-type': 'text/html', 'retry-after': '1' };
const notNow = { 'retry-after': '0' };

const run = async (count = 1) =>
	await fixture.engine.run({ parameters: create(), onError }, numbered(count));
const jobs = () => fixture.sandbox.store.jobs.size;

/**
 * Makes the creates with this token end in a fault. Health checks with it get the fault that `ofHealthChecks` returns.
 */
function answerCreatesOf(rejected: string, fault: Fault, ofHealthChecks?: () => Fault): void {
	fixture.sandbox.faults.plan(({ operation, token }) => {
		if (token !== rejected) return undefined;
		return operation === 'listClusters' ? ofHealthChecks?.() : fault;
	});
}

/** Failures of requests that weren't sent. The sandbox can't make a single request fail in these ways. */
const unsent = [
	{ kind: 'certificate', code: 'CERT_HAS_EXPIRED' },
	{ kind: 'tls', code: 'EPROTO' },
	{ kind: 'blocked', reason: 'The address is restricted' },
];
/** The built module that sends health checks. */
const builtLogin: { sendDirectly: () => Promise<unknown> } = jest.requireActual(
	'../../dist/nodes/JobOrchestration/service/session/login',
);

const sentences: Array<[sentence: string, proof: () => Promise<void>]> = [
	[
		"A token comes from n8n's store or from a login. All requests that need a token wait for the same login.",
		async () => {
			await run(30);
			expect([logins(), jobs()]).toEqual([1, 30]);

			fixture.sandbox.faults.plan(({ token, operation }) =>
				operation !== 'login' && token !== 'stored'
					? answer(401)
					: answer(200, { metadata: { uid: 'a' } }),
			);
			pass(MINUTE_MS);
			fixture.engine.storeAsOtherProcess('stored');
			const { items } = await run();
			expect(items).toMatchObject([{ json: { metadata: { uid: 'a' } } }]);
			expect(logins()).toBe(1);
		},
	],
	[
		'All requests of an account in one process use the newest token that the process knows.',
		async () => {
			const held = gate();
			await logInBefore(MINUTE_MS);
			fixture.meets('createJob', ({ nOfOperation }) =>
				nOfOperation === 1 ? { kind: 'wait', when: 'afterActing', until: held.opened } : undefined,
			);
			const parameters = create({ options: { concurrency: 1 } });
			const first = fixture.engine.start([{ parameters }], numbered(3));
			await until(() => callsOf('createJob').length === 1);
			fixture.sandbox.tokens.expireAll();
			await fixture.engine.run({ parameters: getAll() });
			held.open();
			expect((await first.result).error).toBeUndefined();
			expect(callsOf('createJob').map(({ status }) => status)).toEqual([200, 200, 200]);
			expect(logins()).toBe(1);
		},
	],
	[
		"A 401 response rejects the token. Any other unexpected response makes the token suspect, unless it is about the request (404, 405, 409, 410, 422) or about the state of the service (429, 502 to 504, 520 to 599, and, with a Retry-After and not as a web page, 503 and any other 4xx). A request without a response doesn't make the token suspect.",
		async () => {
			hurry();
			const about = async (fault: Fault) => {
				const old = await logInBefore(2 * MINUTE_MS);
				fixture.meets('createJob', ({ token, nOfOperation }) =>
					token === old && nOfOperation === 1 ? fault : undefined,
				);
				await run();
				const counts = { logins: logins(), healthChecks: healthChecks() };
				// After an unclear response, the node sends a health check before the next create. This run sends it,
				// so that the test of the next fault doesn't count it.
				await run();
				return counts;
			};
			expect(await about(answer(401))).toEqual({ logins: 1, healthChecks: 0 });
			for (const fault of [
				...[400, 402, 403, 406, 408, 413, 418, 419, 440, 498, 500, 501, 519, 600].map((status) =>
					answer(status),
				),
				...[301, 302, 307].map((status) => answer(status, undefined, { location: '/login' })),
				answer(200, { message: 'log in first' }),
				answer(403, page, asPage),
			]) {
				expect(await about(fault)).toEqual({ logins: 0, healthChecks: 1 });
			}
			for (const fault of [
				...[404, 405, 409, 410, 422].map((status) => answer(status, { message: 'no' })),
				...[429, 502, 503, 504, 520, 599].map((status) => answer(status)),
				...[503, 403, 423, 498].map((status) => answer(status, { message: 'not now' }, notNow)),
				answer(503, page, asPage),
				{ kind: 'break', when: 'beforeActing' } as const,
			]) {
				expect(await about(fault)).toEqual({ logins: 0, healthChecks: 0 });
			}
		},
	],
	[
		'For a minute after its login, a token is recently issued. If such a token is suspect, the suspicion is dismissed; if it is rejected, a health check verifies the rejection. For an older token, a rejection is believed, and a health check verifies a suspicion.',
		async () => {
			hurry();
			const cost = async (age: number, status: number) => {
				answerCreatesOf(await logInBefore(age), answer(status));
				await run();
				return { logins: logins(), checked: healthChecks() > 0 };
			};
			expect(await cost(0, 403)).toEqual({ logins: 0, checked: false });
			expect(await cost(0, 401)).toEqual({ logins: 0, checked: true });
			fixture.sandbox.faults.clear();
			expect(await cost(MINUTE_MS, 401)).toEqual({ logins: 1, checked: false });
			fixture.sandbox.faults.clear();
			expect(await cost(MINUTE_MS, 403)).toEqual({ logins: 0, checked: true });
		},
	],
	[
		'A health check requests one work cluster, once for all requests that wait for it. If the service accepts the token in the health check, the request has failed for a reason of its own.',
		async () => {
			answerCreatesOf(await logInBefore(2 * MINUTE_MS), answer(403, { message: 'not yours' }));
			const { items } = await run(10);
			expect(items).toMatchObject(new Array(10).fill({ json: { error: { httpStatus: 403 } } }));
			expect(callsOf('listClusters')).toMatchObject([{ query: { 'ListOption.limit': '1' } }]);
			expect(logins()).toBe(0);
		},
	],
	[
		"A health check decides nothing about the token if it can't be sent, is throttled, gets no response, or is answered with 408 or 5xx (except 501 and 505). The node then logs in.",
		async () => {
			const { orRunOut } = hurry();
			for (const fault of [
				...[408, 429, 500, 502, 503, 504, 520].map((status) => answer(status)),
				answer(423, { message: 'later' }, { 'retry-after': '60' }),
				answer(429, undefined, { 'retry-after': '60' }),
				answer(503, page, asPage),
				{ kind: 'break', when: 'beforeActing' } as const,
				{ kind: 'stall', when: 'beforeActing' } as const,
			]) {
				for (const [age, status] of [
					[2 * MINUTE_MS, 403],
					[0, 401],
				] as const) {
					const old = await logInBefore(age);
					answerCreatesOf(old, answer(status), () => orRunOut(fault));
					const { items } = await run();
					expect(items[0]?.json.error).toBeUndefined();
					expect(logins()).toBe(1);
					pass(MINUTE_MS);
				}
			}
			for (const failure of unsent) {
				answerCreatesOf(await logInBefore(0), answer(401));
				jest.spyOn(builtLogin, 'sendDirectly').mockResolvedValueOnce({ failure });
				expect((await run()).items[0]?.json.error).toBeUndefined();
				expect(logins()).toBe(1);
				pass(MINUTE_MS);
			}
		},
	],
	[
		"A token that the service doesn't accept is not used again, unless a login returns it again or a later health check accepts it. The retry policy decides whether the request is sent again with another token.",
		async () => {
			hurry();
			const old = await logInBefore(MINUTE_MS);
			answerCreatesOf(old, answer(401));
			await run();
			fixture.sandbox.faults.clear();
			fixture.engine.storeAsOtherProcess(old);
			await run();
			expect(callsOf('createJob').filter(({ token }) => token === old)).toHaveLength(1);

			const next = await logInBefore(MINUTE_MS);
			fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
				if (operation === 'login') return answer(200, { access_token: next });
				return operation === 'createJob' && nOfOperation === 1 ? answer(401) : undefined;
			});
			await run();
			expect(callsOf('createJob').map(({ token }) => token)).toEqual([next, next]);
			expect(jobs()).toBe(3);

			// A create that the service may have acted on isn't sent again.
			const last = await logInBefore(2 * MINUTE_MS);
			answerCreatesOf(last, answer(500), () => answer(401));
			expect(contextOf(await fixture.engine.run({ parameters: create() }))).toMatchObject({
				...{ httpStatus: 500, jobMayExist: true },
			});
			expect(callsOf('createJob')).toHaveLength(1);
		},
	],
	[
		"Before a login, the node reads n8n's store, because another process may have logged in. After a rejection, it reads the store a second time before it logs in: up to one second later, or up to four seconds later if there were several logins within a minute.",
		async () => {
			const old = await logInBefore(MINUTE_MS);
			fixture.meets('createJob', ({ token }) =>
				token === 'theirs' ? answer(200, { metadata: { uid: 'a' } }) : answer(401),
			);
			const { credentials } = fixture.engine;
			const read = credentials.getDecrypted.bind(credentials);
			let reads = 0;
			jest.spyOn(credentials, 'getDecrypted').mockImplementation(async (...args) => {
				reads += 1;
				// The first read is that of the item. The second one is at the rejection, and the third one is later.
				if (reads === 3) fixture.engine.storeAsOtherProcess('theirs');
				return await read(...args);
			});
			const startedAt = performance.now();
			const { items } = await run();
			expect(items).toMatchObject([{ json: { metadata: { uid: 'a' } } }]);
			expect(performance.now() - startedAt).toBeLessThan(3_000);
			expect(callsOf('createJob').map(({ token }) => token)).toEqual([old, 'theirs']);
			expect(logins()).toBe(0);
		},
	],
	[
		'If the service has accepted no token since the last login, the node checks the token of that login for about ten more seconds, but at most for a quarter of the Timeout, before it logs in again. After two such logins, the node makes no other login for a minute.',
		async () => {
			hurry();
			let checksUntilValid = 5;
			fixture.sandbox.faults.plan(({ operation }) => {
				if (operation === 'login') return undefined;
				if (operation === 'listClusters') checksUntilValid -= 1;
				return checksUntilValid > 0 ? answer(401, { message: 'used before issued' }) : undefined;
			});
			const startedAt = performance.now();
			expect((await run()).items[0]?.json.error).toBeUndefined();
			expect(logins()).toBe(1);
			expect(performance.now() - startedAt).toBeGreaterThan(1_000);

			fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), userName: 'another' });
			fixture.sandbox.clearCalls();
			fixture.sandbox.faults.plan(({ operation }) =>
				operation === 'login' ? answer(200, { access_token: 'never-good' }) : answer(401),
			);
			const before = performance.now();
			await run();
			expect(logins()).toBe(2);
			expect(performance.now() - before).toBeGreaterThan(2 * 3_000);
			expect(performance.now() - before).toBeLessThan(2 * 16_000);
			await run();
			expect(logins()).toBe(2);
			pass(MINUTE_MS);
			await run();
			expect(logins()).toBeGreaterThan(2);
		},
	],
	[
		'A refused login is not repeated in its execution, and not within five seconds in other executions. A login without a response ends after a minute. Each request waits for a login as long as its own Timeout allows.',
		async () => {
			fixture.sandbox.faults.plan(() => answer(403, { message: 'locked' }));
			for (const [ms, count] of [
				[0, 1],
				[4_000, 1],
				[1_500, 2],
				[4_500, 2],
			] as const) {
				pass(ms);
				await run(20);
				expect(logins()).toBe(count);
			}

			fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), userName: 'another' });
			fixture.sandbox.clearCalls();
			const { runOut } = hurry();
			fixture.sandbox.faults.plan(() => ({ kind: 'stall', when: 'beforeActing' }));
			const waitFor = async (timeout: number) =>
				await fixture.engine.run({ parameters: create({ options: { timeout } }) });
			const message = (seconds: number) =>
				`The service didn't answer the login within ${seconds} s`;
			const long = waitFor(300_000);
			await until(() => logins() === 1);
			expect((await waitFor(50)).error?.message).toBe(message(0.05));
			expect(logins()).toBe(1);
			runOut();
			expect((await long).error?.message).toMatch(/^The service didn't answer the login within/);
			expect(logins()).toBe(1);
		},
	],
];

test.each(sentences)('%s', async (_, proof) => await proof());

test('docs/architecture.md contains exactly these rules', () => {
	const text = readFileSync('docs/architecture.md', 'utf8');
	const section = /^### The life of a token$(.*?)^### /ms.exec(text)?.[1] ?? '';
	const told = [...section.matchAll(/^\d+\. (.+)$/gm)].map(([, sentence]) => sentence);
	expect(told).toEqual(sentences.map(([sentence]) => sentence));
	expect(told.length).toBeLessThanOrEqual(10);
});
