import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Limits } from '../support/hurry';
import { jobEnds } from '../support/operations';
import type { Result } from '../support/run';
import { states as statesOf } from '../sandbox/states';
import { afterActing, beforeActing, ofVerb } from './faults';
import { batch, brokenAfter, contextOf, refused } from './batch';
import { endingsIn, listedIn, terminate, useEndedBatch } from './endedBatch';

/*
 * All or nothing: what becomes of the jobs of an execution that an error stops half-way. Later runs and cancels:
 * ifStoppedAgain.test.ts.
 */

const { fixture, creates, jobsOnService, states, faults } = useEndedBatch();

const verbsSent = () =>
	fixture.callsOf('changeJobState').map(({ path }) => path.split('/').slice(-2).join(' '));

describe('If an error stops the node', () => {
	test.each(jobEnds)('the option %s ends all jobs, each of them named', async (ifStopped) => {
		const state = statesOf[ifStopped].to;
		creates((item) => (item === 12 ? refused : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ ifStopped, concurrency: 4 }) },
			numbered(20),
		);
		expect(contextOf(result)).toMatchObject({ itemIndex: 12, uncertainItems: [] });
		const made = jobsOnService();
		expect(made.length).toBeGreaterThanOrEqual(12 - 3);
		expect(states()).toEqual(made.map(() => state));
		expect(verbsSent().sort()).toEqual(made.map((uid) => `${uid} ${ifStopped}`).sort());
		expect(endingsIn(result)).toEqual(made.map(() => ({ operation: ifStopped, success: true })));
		expect(
			listedIn(result)
				.map(({ uid }) => uid)
				.sort(),
		).toEqual([...made].sort());
		const { description } = result.error ?? {};
		expect(description).toContain(
			`Jobs that this execution had created and has ${state} (${made.length}):`,
		);
		for (const uid of made) expect(description).toContain(`: ${uid} (`);
	});

	test.each([{}, { ifStopped: 'keep' }])('%j leaves them running', async (options) => {
		creates((item) => (item === 2 ? refused : undefined));
		const result = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1, ...options }) },
			numbered(4),
		);
		expect(states()).toEqual(['running', 'running']);
		expect(endingsIn(result)).toEqual([undefined, undefined]);
		expect(verbsSent()).toEqual([]);
	});

	test('no more are ended at once than there may be requests', async () => {
		creates((item) => (item === 6 ? refused : undefined));
		await fixture.engine.run(terminate({ concurrency: 2 }), numbered(8));
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(2);
	});

	test('a job that is not ended at once is tried again, as any state change is', async () => {
		faults(
			(item) => (item === 2 ? refused : undefined),
			(_, n) => (n === 1 ? answer(503) : undefined),
		);
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(3));
		expect(states()).toEqual(['terminated', 'terminated']);
		expect(verbsSent()).toHaveLength(3);
		expect(endingsIn(result).map((ending) => ending?.success)).toEqual([true, true]);
	});

	test('a job that can not be ended is named, with the reason, before those that were', async () => {
		faults(
			(item) => (item === 3 ? refused : undefined),
			(item) => (item === 1 ? refused : undefined),
		);
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(5));
		expect(states()).toEqual(['terminated', 'running', 'terminated']);
		expect(endingsIn(result)).toEqual([
			{ operation: 'terminate', success: true },
			{
				operation: 'terminate',
				success: false,
				message: expect.stringMatching(/^The service refused to terminate the job/),
			},
			{ operation: 'terminate', success: true },
		]);
		const { description = '' } = result.error ?? {};
		expect(description).toMatch(
			/could not end \(1\):\n• item 1: [^\n]*: The service refused to terminate the job\n+Jobs [^\n]* has terminated \(2\):/,
		);
	});

	test('a job whose ID leads elsewhere is sent nothing, and named', async () => {
		creates((item) => (item === 0 ? answer(200, { metadata: { uid: '..' } }) : refused));
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(2));
		expect(verbsSent()).toEqual([]);
		expect(endingsIn(result)).toMatchObject([{ success: false, message: expect.any(String) }]);
	});

	test('a job of another namespace is ended there', async () => {
		creates((item) => (item === 1 ? refused : undefined));
		const { parameters } = terminate({ concurrency: 1 });
		const result = await fixture.engine.run(
			{ parameters: { ...parameters, namespace: 'team-a' } },
			numbered(2),
		);
		expect(endingsIn(result)).toEqual([{ operation: 'terminate', success: true }]);
		expect(fixture.callsOf('changeJobState')[0]?.path).toContain('/namespaces/team-a/');
	});

	test('the item whose job may exist is still named', async () => {
		creates((item) => (item === 2 ? brokenAfter : undefined));
		const result = await fixture.engine.run(terminate({ concurrency: 1 }), numbered(4));
		expect(contextOf(result)).toMatchObject({ itemIndex: 2, jobMayExist: true });
		expect(states()).toEqual(['terminated', 'terminated', 'running']);
	});

	test('a choice that there is not is refused before anything is sent', async () => {
		const { error } = await fixture.engine.run(
			{ parameters: batch({ ifStopped: 'explode' }) },
			numbered(2),
		);
		expect(error?.message).toMatch(/'If Interrupted' is "explode"/);
		expect(error?.description).toMatch(/keep, stop, terminate/);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test.each([
		['keep', 'terminate', 'running'],
		['terminate', 'keep', 'terminated'],
	])('the first item decides: %s, then %s', async (first, others, state) => {
		creates((item) => (item === 2 ? refused : undefined));
		const ifStopped = `={{ $json.n === 0 ? '${first}' : '${others}' }}`;
		await fixture.engine.run({ parameters: batch({ ifStopped, concurrency: 1 }) }, numbered(3));
		expect(states()).toEqual([state, state]);
	});

	test('nothing is ended where all has gone well', async () => {
		await fixture.engine.run(terminate(), numbered(3));
		expect(states()).toEqual(['running', 'running', 'running']);
	});
});

/** A fault in a few words. */
const inWords = (fault: Fault) => JSON.stringify(fault);

describe('Whatever goes wrong, no job runs on that the error does not name', () => {
	const options = { concurrency: 1, maxRetries: 0 };
	let limits: Limits;

	beforeEach(() => {
		limits = hurry();
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** The verb was sent for each of so many jobs, and those that run on are named as such, or may exist. */
	function expectNamed(result: Result, count: number): void {
		const { itemIndex, jobMayExist } = contextOf(result);
		expect(endingsIn(result).map((ending) => ending?.operation)).toEqual(
			new Array(count).fill('terminate'),
		);
		const ended = new Set(
			listedIn(result).flatMap(({ uid, cleanup }) => (cleanup?.success ? uid : [])),
		);
		for (const { uid, displayName, state } of fixture.sandbox.store.jobs.values()) {
			if (state !== 'running' || (jobMayExist && displayName === `Job ${String(itemIndex)}`))
				continue;
			expect([...ended]).not.toContain(uid);
			expect(listedIn(result)).toContainEqual(expect.objectContaining({ uid }));
		}
	}

	test.each(
		[...beforeActing, ...afterActing].map((fault): [string, Fault] => [inWords(fault), fault]),
	)('with a create: %s', async (_, fault) => {
		creates((item) => (item === 2 ? limits.orRunOut(fault) : undefined));
		const result = await fixture.engine.run(terminate(options), numbered(4));
		// A rejected token is no failure: the create is sent again with a new one, and again meets this.
		expect(result.error).toBeDefined();
		expectNamed(result, 2);
	});

	test.each(ofVerb.map((fault): [string, Fault] => [inWords(fault), fault]))(
		'with the verb: %s',
		async (_, fault) => {
			faults(
				(item) => (item === 3 ? refused : undefined),
				(item) => (item === 1 ? limits.orRunOut(fault) : undefined),
			);
			const result = await fixture.engine.run(terminate(options), numbered(4));
			expectNamed(result, 3);
		},
	);
});

describe('Where the workflow continues', () => {
	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'nothing is ended: %s',
		async (onError) => {
			creates((item) => (item === 2 ? refused : undefined));
			const { items } = await fixture.engine.run({ ...terminate(), onError }, numbered(5));
			expect(items).toHaveLength(5);
			expect(states()).toEqual(new Array(4).fill('running'));
			expect(verbsSent()).toEqual([]);
		},
	);
});
