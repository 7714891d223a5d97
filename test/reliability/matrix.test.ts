import type { Fault, Sandbox, When } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { type KnownOperation, operations } from '../support/operations';
import { contextOf } from './batch';

/*
 * No fault makes the node conceal a job that may exist, or create a job twice, unless the service sends a 503 with
 * Retry-After although it has created the job. The faults of a row have the same consequences, which are in the
 * snapshot. Creates and lists get the first fault once or always, state changes get it always, and a create gets each
 * other fault once. rules.test.ts has the consequences of all statuses, and node/errors.test.ts has the texts.
 */

const fixture = useSandbox();
let limits: Limits;

beforeEach(() => {
	limits = hurry();
});

/** Returns a fault before and after the service acts. The node can't distinguish the two. */
const twins = (fault: (when: When) => Fault) => [fault('beforeActing'), fault('afterActing')];
const either = (...given: Parameters<typeof answer>) => [answer(...given), actAndAnswer(...given)];
const answers = (...statuses: number[]) => statuses.map((status) => answer(status));
const location = 'http://127.0.0.1:9/elsewhere';
const notNow = { 'retry-after': '1' };
/** Varnish sends this page if the service behind it has failed, even if the service has already acted. */
const page = '<!DOCTYPE html><html><head><title>503 Backend fetch failed</title></head></html>';
const asPage = { 'content-type': 'text/html; charset=utf-8' };
const pageNotNow = { ...asPage, ...notNow };

const rows: Array<[name: string, ...faults: Fault[]]> = [
	[
		'a broken connection',
		...twins((when) => ({ kind: 'break', when })),
		...twins((when) => ({ kind: 'halfBody', when })),
	],
	[
		'no complete answer',
		...twins((when) => ({ kind: 'stall', when })),
		...twins((when) => ({ kind: 'drip', when })),
	],
	['307, 308', ...[307, 308].map((status) => answer(status, undefined, { location }))],
	[
		'a refusal that may be about the token',
		...answers(400, 403, 407, 431),
		answer(403, page, pageNotNow),
	],
	['another refusal', ...answers(404, 405, 409, 413, 422), answer(405, page, pageNotNow)],
	['a rejected token', answer(401), { kind: 'expireTokens' }],
	[
		'501, 505, another redirect or a page',
		...answers(501, 505),
		// Post/Redirect/Get: many services answer in this way after a POST that has succeeded.
		...[302, 399].flatMap((status) => either(status, undefined, { location })),
		...twins((when) => ({ kind: 'html', when })),
	],
	['408', ...either(408)],
	['408 or 499 with a Retry-After', ...[408, 499].flatMap((code) => either(code, '', notNow))],
	[
		'500',
		...[...either(500), answer(500, undefined, notNow)],
		...twins((when) => ({ kind: 'hugeBody', when, bytes: 1_000_000, status: 500 })),
	],
	[
		'502, or 503 without a Retry-After',
		...[...either(502), ...either(503, { message: 'busy' }), ...either(503, page, asPage)],
		...twins((when) => ({ kind: 'html', when, status: 502 })),
		answer(503, undefined, { 'retry-after': 'later' }),
	],
	[
		'429, or another status with Retry-After',
		...[429, 423, 503].map((status) => answer(status, undefined, notNow)),
		...[answer(429), answer(503, { message: 'busy' }, notNow), answer(503, 'busy', notNow)],
	],
	[
		'503 with a page and Retry-After',
		...either(503, page, pageNotNow),
		answer(503, '<head><title>503 Backend fetch failed', notNow),
	],
	['200 without a job', ...either(200), ...either(200, [])],
];

// All state changes share one implementation, so one of them is enough.
const played = ['create once', 'create always', 'getAll once', 'getAll always', 'stop always'];

test.each(rows)(
	'Each operation ends as in the snapshot, and creates no job twice, after %s',
	async (_, first, ...others) => {
		const ends = [];
		for (const call of played) ends.push(await endOf(call, first));
		expect(ends.join('\n')).toMatchSnapshot();
		for (const fault of others) {
			expect([fault, await endOf('create once', fault)]).toEqual([fault, ends[0]]);
		}
	},
);

/**
 * Runs an operation with one item.
 *
 * @param call the operation, and whether it gets the fault once or always: "create once"
 * @returns how many requests were sent, and how it ended
 */
async function endOf(call: string, fault: Fault) {
	const [name, times] = call.split(' ');
	const operation = operations.find(({ value }) => value === name) as KnownOperation;
	const { sandbox, engine } = fixture;
	sandbox.faults.clear();
	// After these two minutes, a 401 rejects the token without a wait, and nothing that the node remembers of the previous
	// run changes the result.
	pass(MINUTE_MS);
	const { uid: jobId } = await fixture.newJob('stop');
	pass(MINUTE_MS);
	const jobsBefore = sandbox.store.jobs.size;
	sandbox.clearCalls();
	fixture.meets(operation.calls, ({ nOfOperation }) =>
		times === 'always' || nOfOperation === 1 ? limits.orRunOut(fault) : undefined,
	);
	const parameters = operation.parameters({ jobId, options: { maxRetries: 1 } });
	const result = await engine.run({ parameters });
	const { error, items } = result;
	const { jobMayExist, httpStatus } = contextOf(result);
	const made = sandbox.store.jobs.size - jobsBefore;
	const isHealthCheck = ({ query }: Sandbox['calls'][number]) => query['ListOption.limit'] === '1';
	const count = fixture.callsOf(operation.calls).filter((call) => !isHealthCheck(call)).length;
	const sent = `${operation.kind}, ${times}: ${count > 3 ? 'many' : count} sent`;

	expect(made).toBeLessThanOrEqual(1);
	if (error === undefined) {
		expect(items.length).toBeGreaterThan(0);
		if (operation.kind === 'create') expect(made).toBe(1);
		return `${sent}, a result`;
	}
	// The error must mention each job that may exist, and must not advise trying again, which could create it twice.
	if (made === 1) expect(jobMayExist).toBe(true);
	if (jobMayExist === true) {
		expect(operation.kind).toBe('create');
		expect(count).toBe(1);
		expect(`${error.message}\n${error.description}`).not.toMatch(/try (it )?again/i);
	}
	const exists = jobMayExist === true ? ', the job may exist' : '';
	return `${sent}, an error (${httpStatus === null ? 'no answer' : 'answered'}${exists})`;
}
