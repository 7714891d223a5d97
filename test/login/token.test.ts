import { readFileSync } from 'node:fs';

import type { Fault } from '../../sandbox';
import { gate, tries } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer, onlyAt } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { create, credentialFor, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * The life of a token follows the rules in docs/architecture.md: the first sentence of each rule is the title of a test.
 */

const { fixture, jobs, logins, healthChecks, run, plan, logInBefore, beforeReads } = useTokens();
const { callsOf, meets } = fixture;

const onError = 'continueRegularOutput';
const page = '<!DOCTYPE html><html><body>Access denied</body></html>';
const asPage = { 'content-type': 'text/html', 'retry-after': '1' };
const notNow = { 'retry-after': '0' };
const wrong = answer(401, { message: 'not you' });

const tokensOfCreates = () => callsOf('createJob').map(({ token }) => token);

/** Makes the requests with this token end in a fault. */
function answerAll(rejected: string, fault: Fault): void {
	meets('others', ({ token }) => (token === rejected ? fault : undefined));
}

/** Replaces the service by another one, of which the node knows nothing. */
const newAccount = async () => await fixture.start({});

const rules: Array<[rule: string, ...proofs: Array<() => Promise<void>>]> = [
	[
		"A token comes from n8n's store or from a login.",
		async () => {
			await run(20);
			expect([logins(), jobs(), fixture.sandbox.calls.length]).toEqual([1, 20, 21]);

			// All requests use the newest token, also those of an execution that began with an older one.
			const held = gate('afterActing');
			await logInBefore(2 * MINUTE_MS);
			meets('createJob', onlyAt(1, held.fault));
			const first = run(3, { concurrency: 1 });
			await until(() => callsOf('createJob').length === 1);
			fixture.sandbox.tokens.expireAll();
			await fixture.engine.testCredential();
			held.open();
			expect((await first).failed).toEqual([]);
			expect(callsOf('createJob').map(({ status }) => status)).toEqual([200, 200, 200]);
			expect(logins()).toBe(1);

			// Each request waits for a login as long as its own Timeout, and has its whole Timeout once it is sent.
			await newAccount();
			const late = (ms: number): Fault => ({
				...{ kind: 'wait', when: 'beforeActing' },
				until: new Promise((resolve) => setTimeout(resolve, ms)),
			});
			plan({ login: () => late(500), createJob: () => late(300) });
			const ends = [run(1, { timeout: 400 }), run(1, { timeout: 1_000 })];
			const [short, long] = await Promise.all(ends);
			expect(short?.failed).toMatchObject([
				{
					message: "The service didn't answer the login within 0.4 s",
					error: { jobMayExist: false },
				},
			]);
			expect(long?.failed).toEqual([]);

			// Before a login, the node reads n8n's store.
			hurry();
			await newAccount();
			const old = await logInBefore(2 * MINUTE_MS);
			meets('createJob', ({ token }) =>
				token === 'theirs' ? answer(200, { metadata: { uid: 'a' } }) : answer(401),
			);
			beforeReads((read) => {
				// The first read is that of the item. The second one is at the rejection, and the third one is later.
				if (read === 3) fixture.engine.storeAsOtherProcess('theirs');
			});
			const begunAt = performance.now();
			const { items } = await run();
			expect(items).toMatchObject([{ json: { metadata: { uid: 'a' } } }]);
			expect(performance.now() - begunAt).toBeLessThan(1_500);
			expect(tokensOfCreates()).toEqual([old, 'theirs']);
			expect(logins()).toBe(0);
		},
	],
	[
		'The node logs in through its credential, so that n8n stores the token.',
		async () => {
			hurry();
			await run();
			expect(fixture.engine.storedToken).toMatch(/^[\w-]{22}\.[\w-]{32}$/);
			const { token: old } = fixture.engine;
			// An edit of anything that the account consists of leaves the stored token unused.
			const { url } = fixture.sandbox;
			for (const edit of [{ baseUrl: `${url}/v2` }, { userName: 'else' }, { password: 'new' }]) {
				fixture.engine.editCredential(edit);
				await run();
				fixture.engine.editCredential(credentialFor(fixture.sandbox));
			}
			expect(fixture.sandbox.calls.filter(({ token }) => token === old)).toHaveLength(1);
			// The token that another process has stored is used without a login.
			await logInBefore(0);
			meets('createJob', answer(200, { metadata: { uid: 'a' } }));
			fixture.engine.storeAsOtherProcess('theirs');
			await run();
			expect(tokensOfCreates().at(-1)).toBe('theirs');
		},
	],
	[
		'A 401 rejects the token.',
		async () => {
			hurry();
			const old = await logInBefore(2 * MINUTE_MS);
			answerAll(old, wrong);
			await run(3);
			expect([logins(), jobs()]).toEqual([1, 3]);
			// It isn't used again, even if it is found in the store.
			const { token } = fixture.engine;
			fixture.engine.storeAsOtherProcess(old);
			await run();
			expect(callsOf('createJob').filter((call) => call.token === old)).toHaveLength(3);
			fixture.engine.storeAsOtherProcess(token);

			// If a login returns it again, it is used.
			const next = await logInBefore(2 * MINUTE_MS);
			const again = answer(200, { access_token: next });
			plan({ login: () => again, createJob: onlyAt(1, wrong) });
			await run();
			expect(tokensOfCreates()).toEqual([next, next]);

			// The drop-down doesn't wait until a token is valid, as the calls in hardCases.test.ts do.
			await newAccount();
			meets('listClusters', onlyAt(1, wrong));
			await fixture.engine.listSearch('searchClusters');
			expect(logins()).toBe(2);
		},
		async () => {
			hurry();
			await logInBefore(2 * MINUTE_MS);
			meets('others', wrong);
			beforeReads((read) => fixture.engine.storeAsOtherProcess(`theirs ${read}`));
			await run();
			expect(new Set(tokensOfCreates()).size).toBe(5);
		},
	],
	[
		"A 401 is the request's own if the token is accepted in a request that is sent afterwards.",
		async () => {
			hurry();
			await logInBefore(2 * MINUTE_MS);
			const held = gate();
			const isTheirs = ({ path }: { path: string }) => path.includes('/theirs/');
			meets('createJob', (call) => (isTheirs(call) ? [held.fault, wrong] : undefined));
			const parameters = create({ namespace: 'theirs' });
			const theirs = fixture.engine.run({ parameters, onError });
			await until(() => callsOf('createJob').some(isTheirs));
			await run();
			const others = run(20, { concurrency: 1 });
			held.open();
			expect((await theirs).items[0]?.json.error).toMatchObject({ httpStatus: 401 });
			await others;
			expect([logins(), callsOf('createJob').filter(isTheirs).length]).toEqual([0, 1]);
			expect(healthChecks()).toBe(0);
		},
		async () => {
			hurry();
			// After two logins in a row whose tokens the service doesn't accept, a 401 is the call's own.
			await newAccount();
			meets('others', wrong);
			const startedAt = performance.now();
			const { failed } = await run(20);
			expect(performance.now() - startedAt).toBeLessThan(20_000);
			expect(logins()).toBe(2);
			const description = expect.stringContaining('not you') as unknown;
			const error = { httpStatus: 401, jobMayExist: false, description };
			expect(failed).toMatchObject(new Array(20).fill({ error }));
			await run();
			expect(logins()).toBe(2);
			pass(MINUTE_MS);
			await run();
			expect(logins()).toBe(3);
			fixture.sandbox.faults.clear();
			expect((await run()).failed).toEqual([]);
		},
	],
	[
		'Any other response that may mean an expired token leads to one login at most.',
		async () => {
			hurry();
			/** Returns the logins of a create and of the next one, if the first gets this answer with an old token. */
			const loginsAfter = async (fault: Fault) => {
				await logInBefore(2 * MINUTE_MS);
				meets('createJob', onlyAt(1, fault));
				await run();
				await run();
				return logins();
			};
			// The snapshot of rules.test.ts shows which statuses have the same consequence.
			for (const fault of [
				...[400, 401, 403, 440, 499, 500, 501, 519].map((status) => answer(status)),
				...[302, 307].map((status) => answer(status, undefined, { location: '/login' })),
				answer(200, { message: 'log in first' }),
				answer(403, page, asPage),
			]) {
				expect([fault, await loginsAfter(fault)]).toEqual([fault, 1]);
			}
			for (const fault of [
				...[304, 404, 409, 422].map((status) => answer(status, { message: 'no' })),
				...[408, 429, 502, 599].map((status) => answer(status)),
				...[503, 403].map((status) => answer(status, { message: 'not now' }, notNow)),
				answer(503, page, asPage),
				{ kind: 'break', when: 'beforeActing' } as const,
			]) {
				expect([fault, await loginsAfter(fault)]).toEqual([fault, 0]);
			}
			// expired.test.ts shows which requests are sent again.
		},
		async () => {
			hurry();
			const failing = answer(400, { message: 'no template' });
			// There is no login within a minute after another one.
			await logInBefore(0);
			meets('createJob', failing);
			await run();
			expect(logins()).toBe(0);

			// If the login fails, the call fails in its own words, and the others use the old token.
			for (const fault of [answer(500), answer(403, { message: 'locked' }), answer(429)]) {
				const old = await logInBefore(2 * MINUTE_MS);
				plan({ login: () => fault, createJob: onlyAt(1, failing) });
				const message = expect.stringContaining('no template') as unknown;
				expect((await run(12)).failed).toEqual([expect.objectContaining({ message })]);
				expect(new Set(tokensOfCreates())).toEqual(new Set([old]));
				expect(logins()).toBe(1);
				pass(MINUTE_MS);
			}
		},
	],
	[
		'A refused login is not repeated within half a minute.',
		async () => {
			fixture.engine.editCredential({ password: 'wrong' });
			// The half minute begins with the refusal, even if that comes late.
			meets('login', () => {
				pass(MINUTE_MS);
				return undefined;
			});
			// By no item, node, try or execution.
			const parameters = create({ options: { concurrency: 4 } });
			const node = { parameters, onError, settings: tries() } as const;
			const error = { httpStatus: 401, jobMayExist: false };
			const failed = { json: { message: 'The service refused the login', error } };
			for (const [ms, count] of [
				[0, 1],
				[25_000, 1],
				[6_000, 2],
			] as const) {
				pass(ms);
				const { items } = await fixture.engine.start([node, node], numbered(20)).result;
				expect(items).toMatchObject(new Array(20).fill(failed));
				expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(
					new Array(count).fill('login'),
				);
			}
			// A login without a response ends after a minute.
			await newAccount();
			const { runOut } = hurry();
			meets('login', { kind: 'stall', when: 'beforeActing' });
			const long = run(1, { timeout: 300_000 });
			for (const login of [1, 2]) {
				await until(() => logins() === login);
				runOut(60_000);
			}
			const message = "The service didn't answer the login within 60 s";
			expect((await long).failed).toMatchObject([{ message, error: { jobMayExist: false } }]);
		},
	],
];

test.each(rules)('%s', async (_, ...proofs) => {
	for (const proof of proofs) {
		await newAccount();
		await proof();
	}
});

test('docs/architecture.md contains exactly these rules', () => {
	const text = readFileSync('docs/architecture.md', 'utf8');
	const section = /^### The life of a token$(.*?)^### /ms.exec(text)?.[1] ?? '';
	const titles = [...section.matchAll(/^\d+\. \*\*(.+?)\*\*/gm)].map(([, title]) => title);
	expect(titles).toEqual(rules.map(([rule]) => rule));
});
