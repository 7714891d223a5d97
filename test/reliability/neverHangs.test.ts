import type { INodeParameters } from 'n8n-workflow';

import type { Fault, Plan } from '../../sandbox';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { watchEventLoop } from '../support/eventLoop';
import { getAll, numbered } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { batch, continuing, errorsIn, useBatch } from './batch';

/*
 * An execution always ends, and never blocks n8n: however the service fails, no loop of the node repeats without a
 * wait. This also applies if the service restarts during a batch, so that its tokens expire, and then refuses logins.
 */

watchEventLoop();
const { fixture } = useBatch();
const { callsOf } = fixture;

let limits: Limits;
beforeEach(() => {
	limits = hurry();
});

/** A request that waits for a service that accepts no requests fails after 70 s. */
const PATIENCE_MS = 71_000;

const page = (status: number): Fault => ({ kind: 'html', when: 'beforeActing', status });
const redirect: Fault = { kind: 'redirect', location: '/start' };
const broken: Fault = { kind: 'break', when: 'beforeActing' };
const endsTokens: Fault = { kind: 'expireTokens' };
const silent: Fault = { kind: 'stall', when: 'beforeActing' };

/**
 * Simulates a restart of the service, a minute after the token was stored.
 *
 * @param login fault of all further logins
 * @param ofCall plan for all other calls
 */
async function restart(login: Fault, ofCall: Plan): Promise<void> {
	await fixture.engine.run({ parameters: getAll({ limit: 1 }) });
	fixture.sandbox.clearCalls();
	pass(MINUTE_MS);
	fixture.sandbox.faults.plan((call) =>
		call.operation === 'login' ? limits.orRunOut(login) : ofCall(call),
	);
}

/** The end of each login, the fault of the creates before it, and a batch. anyRun.test.ts mixes them at random. */
test.each<[string, Fault, Fault, size: number, INodeParameters]>([
	['401', answer(401), broken, 12, {}],
	['401', answer(401), silent, 2, { concurrency: 1 }],
	['403', answer(403), page(504), 40, { maxRetries: 0 }],
	['404', answer(404), redirect, 12, {}],
	['500', answer(500), silent, 40, { maxRetries: 0 }],
	['a redirect', redirect, broken, 2, { concurrency: 1 }],
	['a page', page(200), redirect, 40, { maxRetries: 0 }],
	['200 without a token', answer(200, {}), page(504), 2, { concurrency: 1 }],
	['no answer', silent, broken, 12, {}],
])(
	'If logins end in %s after creates that meet %j, n8n is not blocked and the execution ends: %i items with %j',
	async (...[, login, fault, size, options]) => {
		await restart(login, ({ operation }) =>
			operation === 'createJob' ? [endsTokens, limits.orRunOut(fault)] : undefined,
		);
		const skippedBefore = limits.skippedMs();
		const result = await fixture.engine.run(continuing(options), numbered(size));
		expect(limits.skippedMs() - skippedBefore).toBeLessThan(PATIENCE_MS);
		const errors = errorsIn(result).map(({ error }) => Object(error));
		expect(errors.map(({ itemIndex }) => itemIndex)).toEqual(numbered(size).map(({ n }) => n));
		// Only items that were sent may have a job: those in flight at first, and four probes, after which the execution
		// gives up its creates.
		const uncertain = errors.filter(({ jobMayExist }) => jobMayExist === true).length;
		expect(uncertain).toBeLessThanOrEqual(callsOf('createJob').length);
		expect(uncertain).toBeLessThanOrEqual((options.concurrency === undefined ? 10 : 1) + 4);
		// The login isn't repeated for each item.
		expect(callsOf('login').length).toBeLessThanOrEqual(1);
	},
);

describe('If the tokens of a service expire and it refuses logins', () => {
	const WRONG = 'The service refused the login';
	const refused = answer(401);

	test('all concurrent calls of a tool by an agent end', async () => {
		await restart(refused, ({ operation, nOfOperation }) => {
			if (operation !== 'createJob') return undefined;
			return nOfOperation === 1 ? endsTokens : [endsTokens, broken];
		});
		const tool = { parameters: batch() };
		const { answers } = await fixture.engine.callTool(tool, numbered(12), { atOnce: true });
		expect(answers).toHaveLength(12);
		const unclear = callsOf('createJob').filter(({ status }) => status !== 401);
		expect(answers.filter((said) => said.includes(WRONG))).toHaveLength(12 - unclear.length);
	});

	test.each([
		['a list', async () => await fixture.engine.run({ parameters: getAll({ returnAll: true }) })],
		['a drop-down', async () => await fixture.engine.listSearch('searchClusters', 'no such one')],
	])('%s ends at the page for which there is no token', async (_, list) => {
		await fixture.start({ clusters: 350 });
		await restart(refused, ({ nOfOperation }) => (nOfOperation > 2 ? endsTokens : undefined));
		const ended = await list().catch((error: unknown) => ({ error }));
		expect(ended).toMatchObject({ error: { message: WRONG } });
		expect(callsOf('listClusters')).toHaveLength(3);
	});
});
