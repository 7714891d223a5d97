import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { inParallel } from '../../nodes/JobOrchestration/execution/prepare';
import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';
import type { Fault, Plan } from '../../sandbox';
import { clientWith } from '../pace/client';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { watchEventLoop } from '../support/eventLoop';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions, Result } from '../support/run';
import { batch, useBatch } from './batch';
import { statusFailure, unreachable } from './statusFailure';

/*
 * An execution always ends, and never blocks n8n: however the service fails, no loop of the node repeats without a
 * wait. This also applies if the service restarts during a batch, so that its tokens expire, and then refuses logins.
 */

watchEventLoop();
const { fixture } = useBatch();
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
	['504 as a page', page(504)],
	['a redirect', redirect],
];
const batches: Array<[string, number, INodeParameters]> = [
	['12 items', 12, {}],
	['2 items at a Concurrency of 1', 2, { concurrency: 1 }],
	['40 items with no retries', 40, { maxRetries: 0 }],
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

/** Each refusal of a login with each fault of a create, in one of the batches. */
const restarts = refusals.flatMap(([refusal, login], row) =>
	unclear.flatMap(([name, fault], column) =>
		batches
			.filter((_, index) => index === (row + column) % batches.length)
			.map((each) => [refusal, name, ...each, login, fault] as const),
	),
);

test.each(restarts)(
	'If logins are refused with %s after creates that meet %s, n8n is not blocked and the execution ends: %s',
	async (...[, , , size, options, login, fault]) => {
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

test('If a health check can not be sent because the login is never answered, the waiting requests fail at their time limit', async () => {
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

/** A create with the properties that the client's loop and the limiter use. */
const CREATE: ServiceRequest<string> = {
	...{ method: 'POST', path: '/', expected: 'a job', idempotent: false },
	isExpected: (body): body is string => typeof body === 'string',
	texts: () => ({ action: 'create the job', ifRefused: '' }),
};

test.each<[string, number, Failure, number]>([
	// Normally, four end in one turn, or 2,000 if their execution has given up. On a busy machine, several timers
	// may be due at the same time.
	['a few refused requests', 1_000, statusFailure(400), 40],
	['a few thousand requests without a connection', 10_000, unreachable, 5_000],
])(
	"The node gives n8n's event loop a turn after %s that fail at once",
	async (_, count, failure, most) => {
		hurry();
		let endedInTurn = 0;
		let turning: NodeJS.Immediate;
		const turn = () => {
			endedInTurn = 0;
			turning = setImmediate(turn);
		};
		turn();
		const fail = async () => await Promise.resolve({ failure });
		const client = clientWith(new AccountLimiter(), fail);
		const errors: unknown[] = [];
		let mostInTurn = 0;
		await inParallel(all(count), {}, async () => {
			const sent = client.send(CREATE, { maxRetries: 3, timeout: 1_000 });
			await sent.catch((error: unknown) => errors.push(error));
			mostInTurn = Math.max(mostInTurn, (endedInTurn += 1));
		}).finally(() => clearImmediate(turning));
		expect(errors).toHaveLength(count);
		expect(mostInTurn).toBeLessThanOrEqual(most);
	},
);
