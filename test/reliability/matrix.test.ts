import type { Fault, Sandbox, When } from '../../sandbox';
import { answer, answerWhen } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { type KnownOperation, operations } from '../support/operations';
import { contextOf } from './batch';

/*
 * No fault makes the node conceal a job that may exist, or create a job twice, unless the service sends a 503 with
 * Retry-After although it has created the job. Each kind of operation gets each fault: creates and lists get it once or
 * always, and state changes always. The snapshot contains the texts of all errors, also those of single statuses.
 */

type Faults = [name: string, ...faults: Fault[]];

const fixture = useSandbox();
let limits: Limits;

beforeEach(() => {
	limits = hurry();
});

/** Returns a fault before and after the service acts. The node can't distinguish the two. */
const twins = (fault: (when: When) => Fault) => [fault('beforeActing'), fault('afterActing')];
const both = (name: string, fault: (when: When) => Fault): Faults => [name, ...twins(fault)];
const location = 'http://127.0.0.1:9/elsewhere';
const notNow = { 'retry-after': '1' };
/** Varnish sends this page if the service behind it has failed, even if the service has already acted. */
const page = '<!DOCTYPE html><html><head><title>503 Backend fetch failed</title></head></html>';
const asPage = { 'content-type': 'text/html; charset=utf-8' };

const rows: Faults[] = [
	both('the connection breaks', (when) => ({ kind: 'break', when })),
	both('half a body', (when) => ({ kind: 'halfBody', when })),
	both('an answer that drips in', (when) => ({ kind: 'drip', when })),
	both('no answer', (when) => ({ kind: 'stall', when })),
	[
		'307, 308',
		{ kind: 'redirect', location, status: 307 },
		{ kind: 'redirect', location, status: 308 },
	],
	[
		// Post/Redirect/Get: many services answer in this way after a POST that has succeeded.
		'another redirect',
		...[302, 399].flatMap((status) =>
			twins((when) => answerWhen(when, status, undefined, { location })),
		),
	],
	...[400, 401, 403, 404, 405, 407, 409, 413, 422, 431].map(
		(status): Faults => [String(status), answer(status)],
	),
	['501, 505', answer(501), answer(505)],
	// test/reliability/rules.test.ts shows that the other statuses have the same consequences.
	...[408, 500, 502].map((status) => both(String(status), (when) => answerWhen(when, status))),
	['a token that has expired', { kind: 'expireTokens' }],
	['429', { kind: 'rateLimit' }],
	['429 with Retry-After', { kind: 'rateLimit', retryAfter: 1 }],
	['423 with Retry-After', answer(423, { message: 'locked for a moment' }, notNow)],
	[
		'503 with Retry-After',
		answer(503, undefined, notNow),
		answer(503, { message: 'busy' }, notNow),
		answer(503, 'busy', notNow),
	],
	both('503 with a message', (when) => answerWhen(when, 503, { message: 'busy' })),
	both('503 with a page', (when) => answerWhen(when, 503, page, asPage)),
	[
		'503 with a page and Retry-After',
		...twins((when) => answerWhen(when, 503, page, { ...asPage, ...notNow })),
		answer(503, '<head><title>503 Backend fetch failed', notNow),
	],
	['403 with a page and Retry-After', answer(403, page, { ...asPage, ...notNow })],
	['405 with a page and Retry-After', answer(405, page, { ...asPage, ...notNow })],
	['503 with an unreadable Retry-After', answer(503, undefined, { 'retry-after': 'later' })],
	['500 with Retry-After', answer(500, undefined, notNow)],
	both('500 with a huge body', (when) => ({
		kind: 'hugeBody',
		when,
		bytes: 1_000_000,
		status: 500,
	})),
	both('502 with a page', (when) => ({ kind: 'html', when, status: 502 })),
	both('a page', (when) => ({ kind: 'html', when })),
	both('a list', (when) => answerWhen(when, 200, [])),
	both('nothing', (when) => answerWhen(when, 200)),
];

// All state changes share one implementation, so one of them is enough.
const [create, list, change] = ['create', 'getAll', 'stop'].map((value) =>
	operations.find((operation) => operation.value === value),
) as [KnownOperation, KnownOperation, KnownOperation];

const played = [
	[create, 'once'],
	[create, 'always'],
	[list, 'once'],
	[list, 'always'],
	[change, 'always'],
] as const;

test.each(rows)(
	'Each operation ends as in the snapshot, and creates no job twice, after %s',
	async (_, ...faults) => {
		const ends = new Map<string, Set<string>>();
		for (const [index, fault] of faults.entries()) {
			// The faults of a row differ only in whether the service may have acted, which matters to a create alone.
			for (const [operation, times] of index === 0 ? played : played.slice(0, 1)) {
				const { sent, end } = await endOf(operation, times, fault);
				const who = `${operation.kind}, ${times}: ${sent} sent`;
				ends.set(end, (ends.get(end) ?? new Set()).add(who));
			}
		}
		const said = [...ends].map(([end, who]) => [...who, end].join('\n'));
		expect(said.join('\n\n')).toMatchSnapshot();
	},
);

/** Runs an operation with one item. Returns how many requests were sent and the text of the result. */
async function endOf(operation: KnownOperation, times: 'once' | 'always', fault: Fault) {
	const { sandbox, engine } = fixture;
	sandbox.faults.clear();
	// A 401 rejects a token that is a minute old at once. By then, the node has also forgotten the previous run.
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
	const sent = count > 3 ? 'many' : String(count);

	expect(made).toBeLessThanOrEqual(1);
	if (error === undefined) {
		expect(items.length).toBeGreaterThan(0);
		if (operation.kind === 'create') expect(made).toBe(1);
		return { sent, end: 'a result' };
	}
	const said = `${error.message}\n${error.description}`;
	// The error must mention each job that may exist, and must not advise trying again, which could create it twice.
	if (made === 1) expect(jobMayExist).toBe(true);
	if (jobMayExist === true) {
		expect(operation.kind).toBe('create');
		expect(count).toBe(1);
		expect(said).not.toMatch(/try (it )?again/i);
	}
	const text = said
		.replaceAll(sandbox.url, '<service>')
		.replaceAll(jobId, '<job>')
		.replaceAll(`HTTP ${String(httpStatus)}`, 'HTTP <status>')
		.replace(/waited \d+ s for the service, and \d+ more/, 'waited … s for the service, and … more')
		.replace(/sent \d\d+ times/, 'sent many times')
		.replaceAll(/x{20,}…/g, 'xxx…');
	const exists = jobMayExist === true ? ', the job may exist' : '';
	return {
		sent,
		end: `an error (${httpStatus === null ? 'no answer' : 'answered'}${exists})\n${text}`,
	};
}
