import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeExecutionData } from 'n8n-workflow';
import type { INodeParameters } from 'n8n-workflow';

import { inParallel } from '../../nodes/JobOrchestration/execution/prepare';
import type { Call } from '../../nodes/JobOrchestration/service/calls/call';
import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { CircuitBreaker } from '../../nodes/JobOrchestration/service/pace/circuitBreaker';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { Fault, Plan } from '../../sandbox';
import { clientWith } from '../pace/client';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { watchEventLoop } from '../support/eventLoop';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions, Result } from '../support/run';
import { batch, contextOf, gate, itemOf, tries, useBatch } from './batch';
import { statusFailure, unreachable } from './statusFailure';

/*
 * An execution always ends, and never blocks n8n: however the service fails, no loop of the node repeats without a
 * wait. This also applies if the service restarts during a batch, so that its tokens expire, and then refuses logins.
 */

watchEventLoop();
const { fixture, cancel } = useBatch();
const { callsOf } = fixture;

/** A request that waits for a service that accepts no requests fails after 70 s. */
const PATIENCE_MS = 71_000;
/** Returns a batch in which the error of an item doesn't end the others. */
const continuing = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

const page = (status: number): Fault => ({ kind: 'html', when: 'beforeActing', status });
const redirect: Fault = { kind: 'redirect', location: '/start' };
const broken: Fault = { kind: 'break', when: 'beforeActing' };
const endsTokens: Fault = { kind: 'expireTokens' };

const refusals: Array<[string, Fault]> = [
	...[401, 403, 404, 500].map((status): [string, Fault] => [String(status), answer(status)]),
	['a redirect', redirect],
	['a page', page(200)],
	['200 without a token', answer(200, {})],
];
const unclear: Array<[string, Fault]> = [
	['a broken connection', broken],
	['silence', { kind: 'stall', when: 'beforeActing' }],
	['500', answer(500)],
	['502', answer(502)],
	['504 as a page', page(504)],
	['a redirect', redirect],
];
const batches: Array<[string, number, INodeParameters]> = [
	['12 items', 12, {}],
	['2 items at a Concurrency of 1', 2, { concurrency: 1 }],
	['40 items', 40, {}],
	['12 items with no retries', 12, { maxRetries: 0 }],
];

/**
 * Simulates a restart of the service, a minute after the token was stored.
 *
 * @param login fault of all further logins
 * @param ofCall plan for all other calls
 */
async function restart(login: Fault | undefined, ofCall: Plan): Promise<void> {
	await fixture.engine.run({ parameters: getAll({ limit: 1 }) });
	fixture.sandbox.clearCalls();
	pass(MINUTE_MS);
	fixture.sandbox.faults.plan((call) => (call.operation === 'login' ? login : ofCall(call)));
}

/**
 * Simulates a restart at the first creates: all tokens expire, and the creates get no clear response, but for one that
 * gets a 401.
 */
const restartAtCreates = async (login: Fault, fault: Fault = broken) =>
	await restart(login, ({ operation, nOfOperation }) => {
		if (operation !== 'createJob') return undefined;
		return nOfOperation === 1 ? endsTokens : [endsTokens, fault];
	});

const numbersOf = (items: INodeExecutionData[]) =>
	items.map(({ pairedItem }) => (pairedItem as { item: number }).item);
const uncertainOf = (items: INodeExecutionData[]) =>
	items.filter(({ json }) => Object(json.error).jobMayExist === true);
/** The number of creates that got no clear response: all but the one that got the 401. */
const unclearCreates = () => callsOf('createJob').filter(({ status }) => status !== 401).length;
const all = (count: number) => numbered(count).map(({ n }) => n);

/**
 * Checks that each item has failed once, and that only items that were sent may have a job: those in flight at first,
 * and four probes, after which the execution gives up its creates.
 */
function expectAllFailed({ items }: Result, count: number, atOnce = 10): void {
	expect(numbersOf(items)).toEqual(all(count));
	expect(items.filter(({ json }) => json.error === undefined)).toEqual([]);
	expect(uncertainOf(items).length).toBeLessThanOrEqual(callsOf('createJob').length);
	expect(uncertainOf(items).length).toBeLessThanOrEqual(atOnce + 4);
}

describe.each(refusals)(
	'If logins are refused with %s, n8n is not blocked and the execution ends',
	(_, login) => {
		describe.each(unclear)('after creates that meet %s', (_create, fault) => {
			test.each(batches)('%s', async (_batch, size, options) => {
				const { orRunOut } = hurry();
				await restart(login, ({ operation }) =>
					operation === 'createJob' ? [endsTokens, orRunOut(fault)] : undefined,
				);
				const startedAt = performance.now();
				const result = await fixture.engine.run(continuing(options), numbered(size));
				expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
				expectAllFailed(result, size, options.concurrency === undefined ? 10 : 1);
				// The login isn't repeated for each item.
				expect(callsOf('login').length).toBeLessThanOrEqual(1);
			});
		});
	},
);

describe('If the tokens of a service expire and it refuses logins', () => {
	beforeEach(() => void hurry());
	const WRONG = 'The username or the password is wrong';
	const refused = answer(401);
	const failsSo = { message: WRONG, error: { httpStatus: 401, jobMayExist: false } };

	test('items that were not sent fail with the error of the login, and their jobs certainly do not exist', async () => {
		await restartAtCreates(refused);
		const { items } = await fixture.engine.run(continuing(), numbered(20));
		const others = items.filter((item) => !uncertainOf(items).includes(item));
		expect(others.map(({ json }) => json)).toMatchObject(others.map(() => failsSo));
		expect(others).toHaveLength(20 - unclearCreates());
	});

	test('two executions end, and together leave no more than ten items uncertain', async () => {
		await restartAtCreates(refused);
		const run = async () => await fixture.engine.run(continuing(), numbered(12));
		const both = (await Promise.all([run(), run()])).flatMap(({ items }) => items);
		expect(numbersOf(both)).toEqual([...all(12), ...all(12)]);
		expect(uncertainOf(both)).toHaveLength(unclearCreates());
		expect(uncertainOf(both).length).toBeLessThanOrEqual(10);
	});

	test('a workflow that stops on errors ends, also with Retry On Fail and Retry, and sends no create twice', async () => {
		await restartAtCreates(refused);
		const node = { parameters: batch(), settings: tries() };
		const first = await fixture.engine.run(node, numbered(12));
		const second = await fixture.engine.retry(first, [node]);
		expect(first.error).toBeDefined();
		expect(contextOf(second)).toMatchObject({ httpStatus: 401, jobMayExist: false });
		const sent = callsOf('createJob').map(itemOf);
		expect(new Set(sent).size).toBe(sent.length);
	});

	test('all concurrent calls of a tool by an agent end', async () => {
		await restartAtCreates(refused);
		const tool = { parameters: batch() };
		const { answers } = await fixture.engine.callTool(tool, numbered(12), { atOnce: true });
		expect(answers).toHaveLength(12);
		const sent = unclearCreates();
		expect(answers.filter((said) => said.includes(WRONG))).toHaveLength(12 - sent);
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

	test('the request of another node fails with its own response', async () => {
		await restartAtCreates(refused, answer(403));
		const uri = `${fixture.sandbox.url}/api/v1/namespaces/default/jobs`;
		const request = { method: 'POST', uri, body: {}, json: true } as const;
		await expect(fixture.engine.requestAsOtherNode(request)).rejects.toThrow();
		expect(callsOf('createJob')).toHaveLength(1);
	});
});

describe('If a health check can not be sent', () => {
	test('because the login is never answered, the waiting requests fail at their time limit', async () => {
		const { orRunOut } = hurry();
		await restart(undefined, () => undefined);
		const stall = { kind: 'stall', when: 'beforeActing' } as const;
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'login') return orRunOut(stall);
			if (operation !== 'createJob') return undefined;
			return nOfOperation === 1 ? endsTokens : [endsTokens, broken];
		});
		const result = await fixture.engine.run(continuing(), numbered(12));
		expectAllFailed(result, 12);
		expect(result.items.at(-1)?.json.message).toMatch(/didn't answer the login/);
	});

	test('because the login takes longer than the time limit of a health check, the waiting jobs are still created', async () => {
		hurry();
		const built: { CHECK_TIMEOUT_MS: number } = jest.requireActual(
			'../../dist/nodes/JobOrchestration/service/session/healthCheck',
		);
		jest.replaceProperty(built, 'CHECK_TIMEOUT_MS', 400);
		await fixture.engine.run({ parameters: getAll({ limit: 1 }) });
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'login') {
				return { kind: 'wait', when: 'beforeActing', until: sleep(1_000) };
			}
			const isBroken = operation === 'createJob' && nOfOperation <= 10;
			return isBroken ? [endsTokens, broken] : undefined;
		});
		const { items } = await fixture.engine.run(continuing(), numbered(12));
		expect(uncertainOf(items)).toHaveLength(10);
		expect(fixture.sandbox.store.jobs.size).toBe(2);
		// The login at the start, one after the first ten creates, and another one if the last of the ten was a probe.
		expect(callsOf('login').length).toBeLessThanOrEqual(3);
	});

	test('a cancel during its login ends the execution at once', async () => {
		const held = gate();
		await restartAtCreates(held.fault);
		const { result, took } = await cancel([continuing(), 12], () => callsOf('login').length === 1);
		held.open();
		// This is less than the time limit of the health check.
		expect(took).toBeLessThan(5_000);
		const { uncertainItems } = contextOf(result);
		expect(uncertainItems).toHaveLength(unclearCreates());
	});
});

/** A create with the properties that the client's loop and the limiter use. */
const CREATE: Call<string> = {
	...{ operationId: 'createJob', method: 'POST', path: '/', expected: 'a job', idempotent: false },
	isExpected: (body): body is string => typeof body === 'string',
	texts: () => ({ action: 'create the job', ifRefused: '' }),
};

describe('A request that fails at once, without a wait', () => {
	let turns: number;
	let endedInTurn: number;
	let turning: NodeJS.Immediate;
	beforeEach(() => {
		hurry();
		turns = 0;
		const turn = () => {
			turns += 1;
			endedInTurn = 0;
			turning = setImmediate(turn);
		};
		turn();
	});
	afterEach(() => clearImmediate(turning));

	/**
	 * Sends creates by a client whose requests all fail.
	 *
	 * @returns how often a create was sent, the errors, and the largest number of errors in one turn of the event loop
	 */
	async function sendAll(count: number, failure: Failure) {
		const fail = jest.fn(async () => await Promise.resolve({ failure }));
		const client = clientWith(new AccountLimiter(), fail);
		const options = { maxRetries: 3, timeout: 1_000 };
		const errors: unknown[] = [];
		let mostInTurn = 0;
		await inParallel(all(count), {}, async () => {
			await client.send(CREATE, options).catch((error: unknown) => errors.push(error));
			mostInTurn = Math.max(mostInTurn, (endedInTurn += 1));
		});
		return { tried: fail.mock.calls.length, errors, mostInTurn };
	}

	test.each<[string, number, Failure, number]>([
		// Normally, four end in one turn, or 2,000 if their execution has given up. On a busy machine, several timers
		// may be due at the same time.
		['a few refused requests', 1_000, statusFailure(400), 40],
		['a few thousand requests without a connection', 20_000, unreachable, 8_000],
	])("gives n8n's event loop a turn after %s", async (_, count, failure, most) => {
		const { errors, mostInTurn } = await sendAll(count, failure);
		expect(errors).toHaveLength(count);
		expect(mostInTurn).toBeLessThanOrEqual(most);
	});

	test('is sent a limited number of times even if the limiter does not stop it, and n8n is not blocked', async () => {
		jest.spyOn(CircuitBreaker.prototype, 'end').mockReturnValue(false);
		const start = jest.spyOn(CircuitBreaker.prototype, 'start');
		start.mockImplementation((request) => (request.isHealthCheck = true));
		const { tried, errors } = await sendAll(1, statusFailure(429, 0));
		expect(errors).toMatchObject([{ problem: { httpStatus: 429 } }]);
		expect(errors).not.toMatchObject([{ problem: { mayHaveActed: true } }]);
		// It is sent once, and again forty times plus three Max Request Retries.
		expect(tried).toBe(44);
		expect(turns).toBeGreaterThan(40);
	});
});
