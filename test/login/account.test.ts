/**
 * This file searches every object that an error refers to, so it loads its own copy of the engine.
 *
 * @jest-environment node
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type * as Sessions from '../../nodes/JobOrchestration/service/session/session';
import type { Sandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { HOUR_MS } from '../support/clock';
import { change, create, credentialFor, getAll, newSandbox, useSandbox } from '../support/fixture';
import { CredentialsInMemory } from '../support/credentialsHelper';
import { Engine } from '../support/run';
import { everyText } from '../secrets/everyText';
import { until } from '../sandbox/client';
import { gate, turns } from '../reliability/batch';

/*
 * A token is only sent to the account for which it was issued, even if the credential is edited while n8n stores the
 * token with it.
 */

const fixture = useSandbox();

let other: Sandbox;

beforeEach(async () => {
	// Both services have the same user and the same password.
	other = await newSandbox({ password: fixture.sandbox.password });
});

const tokensSeenBy = ({ calls }: Sandbox) =>
	calls.flatMap(({ token }) => (token === undefined ? [] : [token]));

/**
 * Behaves like n8n's store up to release 2.20: together with the token, it stores all data that the request has read.
 */
class Overwriting extends CredentialsInMemory {
	protected override async withToken(
		...[, credentials, output]: Parameters<CredentialsInMemory['withToken']>
	) {
		return await Promise.resolve({ ...credentials, ...output });
	}
}

test.each([CredentialsInMemory, Overwriting])(
	'an edit during a login is not undone, and the next run does not use the token of that login: %p',
	async (Store) => {
		const engine = await Engine.load(Store);
		engine.saveCredential(credentialFor(fixture.sandbox));
		const held = gate('afterActing');
		fixture.meets('login', held.fault);
		const running = engine.run({ parameters: getAll() });
		await until(() => fixture.sandbox.tokens.issued === 1);
		engine.editCredential({ baseUrl: other.url });
		held.open();
		await running;
		const late = engine.token;
		expect(tokensSeenBy(fixture.sandbox)).toEqual([late]);
		expect(engine.credentials.look('1')).toMatchObject({ baseUrl: other.url });

		await engine.run({ parameters: getAll() });
		expect(tokensSeenBy(other)).toEqual([engine.token]);
		expect(engine.token).not.toBe(late);
	},
);

test('if the shared login of two executions fails, the errors of neither contain data of the other', async () => {
	const held = gate();
	fixture.meets('login', [held.fault, answer(403)]);
	const names = ['Ann', 'Bob'];
	const all = names.flatMap((name) => [
		fixture.engine.run({ parameters: create({ displayName: `job of ${name}` }) }),
		fixture.engine.run({ parameters: change('stop', { jobId: `id of ${name}` }) }),
		fixture.engine.requestAsOtherNode({ uri: `${fixture.sandbox.url}/x`, body: { of: name } }).then(
			() => ({ error: undefined }),
			(error: unknown) => ({ error }),
		),
	]);
	await until(() => fixture.callsOf('login').length === 1);
	// All six requests then wait for the login.
	await turns();
	held.open();
	const errors = (await Promise.all(all)).map(({ error }) => error as Error);

	expect(fixture.callsOf('login')).toHaveLength(1);
	for (const error of errors) expect(error.message).toMatch(/^The service refused the login/);
	expect(new Set(errors).size).toBe(6);
	for (const [index, error] of errors.entries()) {
		const others = index < 3 ? 'Bob' : 'Ann';
		expect([...everyText(error)].filter((text) => text.includes(others))).toEqual([]);
	}
	const [one, two] = errors.map((error) => ('context' in error ? error.context : undefined));
	expect(one).not.toBe(two);
});

test('the node forgets an account and its password after an hour without use', async () => {
	const { sessionOf } = jest.requireActual<typeof Sessions>(
		'../../dist/nodes/JobOrchestration/service/session/session',
	);
	const credential = { ...credentialFor(fixture.sandbox), password: 'before the edit' };
	const sessionBefore = () => new WeakRef(sessionOf(credential));
	const before = sessionBefore();
	expect(sessionOf(credential)).toBe(before.deref());
	const now = performance.now();
	jest.spyOn(performance, 'now').mockReturnValue(now + HOUR_MS);
	await fixture.engine.run({ parameters: getAll() });
	await collectGarbage();
	expect(before.deref()).toBeUndefined();
});

test('the node remembers an account that a run has used within the hour', async () => {
	const now = performance.now();
	const hours = (count: number) =>
		jest.spyOn(performance, 'now').mockReturnValue(now + count * HOUR_MS);
	fixture.meets('listClusters', ({ nOfOperation }) => {
		// The second request of the run is sent later.
		if (nOfOperation === 1) hours(0.9);
		return undefined;
	});
	await fixture.succeeds(getAll({ options: { concurrency: 1 } }), [{}, {}]);
	hours(1.5);
	fixture.engine.editCredential({ userName: 'another' });
	await fixture.engine.run({ parameters: getAll() });
	fixture.engine.saveCredential(credentialFor(fixture.sandbox));
	fixture.sandbox.clearCalls();
	await fixture.succeeds(getAll());
	expect(fixture.callsOf('login')).toEqual([]);
});

async function collectGarbage(): Promise<void> {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	// An object that was read through a WeakRef stays alive until the end of the turn.
	await new Promise(setImmediate);
	collect();
}
