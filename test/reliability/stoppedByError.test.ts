import { ExecuteContext } from 'n8n-core';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions, Result } from '../support/run';
import { until } from '../sandbox/client';
import { batch, brokenAfter, contextOf, createdIn, gate } from './batch';
import { oneByOne, refused, refusedAt, tries, turns, useBatch } from './batch';

/*
 * An error that stops the workflow says what happened, what to do, and what became of the jobs.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();
const { callsOf, meets } = fixture;

/** Waits until a create is answered with this status. */
const createAnswered = async (answered: number) =>
	await until(() => callsOf('createJob').some(({ status }) => status === answered));

describe('If an error stops the workflow', () => {
	const twoAtOnce = { parameters: batch({ concurrency: 2 }) };

	test('few of the remaining jobs are sent; the context lists all created jobs, and the text a hundred', async () => {
		creates(refusedAt(110));
		const parameters = batch({ concurrency: 8 });
		const result = await fixture.engine.run({ parameters }, numbered(130));
		const made = jobsOnService();
		const { message, description } = result.error ?? {};
		expect(message).toBe(
			`${made.length} of 130 jobs were created; item 110 failed: The service refused to create the job: no`,
		);
		const context = { itemIndex: 110, httpStatus: 400, jobMayExist: false, uncertainItems: [] };
		expect(contextOf(result)).toMatchObject(context);
		expect(callsOf('createJob').length).toBeLessThanOrEqual(110 + 8);
		expect(createdIn(result).sort()).toEqual(made.sort());
		expect(made.length).toBeGreaterThanOrEqual(110 - 7);
		expect(description?.match(/\n• item \d+: /g)).toHaveLength(100);
		expect(description).toContain(
			`• and ${made.length - 100} more, in the error's context.createdJobs`,
		);
	});

	test('items that wait, or were about to be sent when another one failed, are not begun, even without a Concurrency', async () => {
		const all = gate();
		creates((item) =>
			[all.fault, item === 5 ? refused : answer(200, { metadata: { uid: 'j' } })].flat(),
		);
		const running = fixture.engine.start([{ parameters: batch() }], numbered(60));
		await until(() => callsOf('createJob').length === 10);
		all.open();
		const result = await running.result;
		expect(result.error?.description).toMatch(/ Failed: item 5\. Not begun: items /);
		// Those in flight are awaited.
		const sent = callsOf('createJob').length;
		expect(sent).toBeLessThan(20);
		expect(createdIn(result)).toHaveLength(sent - 1);
	});

	test.each<[string, Fault, ageMs: number]>([
		['is rejected', { kind: 'expireTokens' }, 0],
		['may have expired', answer(403), 2 * MINUTE_MS],
	])(
		'a request in flight whose token %s is not sent again, and causes no login',
		async (_, fault, ageMs) => {
			await fixture.engine.run({ parameters: getAll() });
			pass(ageMs);
			const held = gate();
			creates((item) => (item === 0 ? answer(404) : [held.fault, fault]));
			const running = fixture.engine.start([twoAtOnce], numbered(2));
			await createAnswered(404);
			await turns();
			held.open();
			const { error } = await running.result;
			await turns();
			expect(error?.message).toMatch(/^0 of \d jobs were created; item 0 failed: The namespace/);
			expect([callsOf('createJob').length, callsOf('login').length]).toEqual([2, 1]);
			expect(jobsOnService()).toEqual([]);
		},
	);

	test('lists are not read further, if one of them cannot be read to its end', async () => {
		meets('listClusters', answer(200, { items: [], metadata: { continue: 'a' } }));
		const parameters = getAll({ returnAll: true, options: { concurrency: 1 } });
		const { error } = await fixture.engine.run({ parameters }, numbered(10));
		expect(error?.message).toMatch(/can't be read to its end$/);
		expect(callsOf('listClusters').length).toBeLessThan(15);
	});

	test.each([
		{ metadata: { uid: 'job-0' } },
		{ metadata: { uid: 'job-0', namespace: { toString: 1 } }, displayName: { a: 1 } },
	])(
		'the context lists the job %j and the item whose job may exist, with the names from the request',
		async (body) => {
			creates((item) => (item > 0 ? brokenAfter : answer(200, body)));
			const node = oneByOne({}, { namespace: '=team-{{ $json.n }}' });
			const result = await fixture.engine.run(node, numbered(3));
			expect(contextOf(result)).toMatchObject({
				...{ itemIndex: 1, jobMayExist: true },
				createdJobs: [{ itemIndex: 0, namespace: 'team-0', displayName: 'Job 0', uid: 'job-0' }],
				uncertainItems: [{ itemIndex: 1, namespace: 'team-1', displayName: 'Job 1' }],
			});
		},
	);

	test('an item that waits to be sent again is not sent again, and certainly has no job', async () => {
		const both = gate();
		// The wait would be longer than a test may take.
		creates((item) => (item === 0 ? { kind: 'rateLimit', retryAfter: 60 } : [both.fault, refused]));
		const running = fixture.engine.start([twoAtOnce], numbered(9));
		await createAnswered(429);
		both.open();
		const result = await running.result;
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, uncertainItems: [], createdJobs: [] });
		expect(timesSent()[0]).toBe(1);
	});
});

/** Runs a batch of six items. The creates get these faults, by their order; every login after the first is refused. */
async function run(of: NodeOptions, faults: Record<number, Fault>): Promise<Result> {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation > 1
			? answer(401)
			: operation === 'createJob'
				? faults[nOfOperation - 1]
				: undefined,
	);
	return await fixture.engine.run(of, numbered(6));
}

const isRefused = { 3: refused };
const isLost = { 3: brokenAfter };

/*
 * The snapshot contains the texts of each error: what happened, what to do, and which jobs are missing, may exist, or
 * exist.
 */
test.each<[string, () => Promise<Result>]>([
	['an item is refused', () => run(oneByOne(), isRefused)],
	['an item is uncertain, and the batch ends there', () => run(oneByOne(), isLost)],
	[
		'two are uncertain after all tries',
		() => run({ ...oneByOne(), settings: tries() }, { 1: brokenAfter, 3: brokenAfter }),
	],
	[
		'the token expires, and the password has changed',
		() => run(oneByOne(), { 3: { kind: 'expireTokens' } }),
	],
	[
		'a sub-workflow fails',
		() => {
			fixture.engine.mode = 'integrated';
			return run(oneByOne(), isLost);
		},
	],
	[
		'a Retry leaves an item uncertain, and runs all others',
		async () => await fixture.engine.retry(await run(oneByOne(), isLost), [oneByOne()]),
	],
	[
		'the jobs have namespaces of their own',
		() => run(oneByOne({}, { namespace: '=team-{{ $json.n }}' }), isRefused),
	],
	[
		'no jobs are created, but stopped',
		() => {
			const end = answer(409, { message: 'it has ended' });
			meets('changeJobState', ({ nOfOperation }) => (nOfOperation === 2 ? end : answer(200)));
			const parameters = change('stop', { jobId: 'a', options: { concurrency: 1 } });
			return fixture.engine.run({ parameters }, numbered(6));
		},
	],
])(
	'An error says what happened, what to do and which jobs exist, in a batch of six where %s',
	async (_, play) => {
		hurry();
		const { error } = await play();
		let description = error?.description ?? '';
		for (const uid of fixture.sandbox.store.jobs.keys()) {
			description = description.replaceAll(uid, 'ID');
		}
		description = description.replaceAll(fixture.sandbox.url, '<service>');
		expect([error?.message, description].join('\n\n')).toMatchSnapshot();
	},
);

test('If n8n fails after the calls, the error lists the jobs that were created', async () => {
	fixture.engine.mode = 'manual';
	jest.spyOn(ExecuteContext.prototype, 'addExecutionHints').mockImplementation(() => {
		throw new Error('n8n failed');
	});
	const result = await run(oneByOne(), {});
	expect(result.error?.message).toMatch(/^6 of 6 jobs were created: n8n failed/);
	expect(createdIn(result)).toHaveLength(6);
});

test('An error contains only the beginning of long names, on one line', async () => {
	const node = oneByOne({}, { displayName: '={{ "\\nx".repeat(20000) + $json.n }}' });
	const failed = await run(node, { 1: refused, 4: brokenAfter });
	const result = await fixture.engine.retry(failed, [node]);
	for (const { error } of [failed, result]) {
		expect(`${error?.message}\n${error?.description}`).toContain(`'${' x'.repeat(49)} …'`);
		expect(`${error?.message}\n${error?.description}`).not.toMatch(/\nx|( x){50}/);
	}
});
