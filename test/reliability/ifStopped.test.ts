import type { INodeParameters } from 'n8n-workflow';

import { transitions, type Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { numbered } from '../support/fixture';
import { awayUntil, hurry } from '../support/hurry';
import { jobEnds } from '../support/operations';
import type { Result } from '../support/run';
import { batch, brokenAfter, contextOf, createdIn, itemOf, jobIdOf } from './batch';
import { listedIn, oneByOne, refused, refusedAt, tries, useBatch } from './batch';

/*
 * With If It Fails or Is Cancelled, an error or a cancel that ends the node also ends the jobs that the node has
 * created. The error or the log says for each job whether it was ended.
 */

const { fixture, creates, jobsOnService, timesSent, cancel } = useBatch();
const { callsOf } = fixture;

const terminate = (options: INodeParameters = {}) =>
	oneByOne({ ifStopped: 'terminate', ...options });

const endingsIn = (result: Result) => listedIn(result).map(({ cleanup }) => cleanup);
const states = () => [...fixture.sandbox.store.jobs.values()].map(({ state }) => state);
const verbsSent = () =>
	callsOf('changeJobState').map(({ path }) => path.split('/').slice(-2).join(' '));
const terminated = (count: number) => new Array<string>(count).fill('terminated');
const running = (count: number) => new Array<string>(count).fill('running');
const ended = (count: number) =>
	new Array<object>(count).fill({ operation: 'terminate', success: true });

/** Plans a fault for each create and for each verb, by the number of the item. */
function faults(
	ofCreate: (item: number) => Fault | undefined,
	ofVerb: (item: number, nOfOperation: number) => Fault | undefined,
): void {
	fixture.sandbox.faults.plan((call) => {
		if (call.operation === 'createJob') return ofCreate(itemOf(call));
		if (call.operation !== 'changeJobState') return undefined;
		const { displayName = '' } = fixture.sandbox.store.jobs.get(jobIdOf(call)) ?? {};
		return ofVerb(Number(displayName.replace('Job ', '')), call.nOfOperation);
	});
}

describe('If an error stops the node', () => {
	test('a job is ended even if a replica does not know it in the first seconds', async () => {
		hurry();
		let endedAt = Infinity;
		faults(refusedAt(9), () => {
			endedAt = Math.min(endedAt, performance.now());
			const isKnown = performance.now() > endedAt + 3_000;
			return isKnown ? undefined : answer(404, { message: 'no such job' });
		});
		const result = await fixture.engine.run(terminate({ concurrency: 4 }), numbered(10));
		expect(endingsIn(result)).toEqual(ended(9));
		expect(states()).toEqual(terminated(9));
	});

	test('jobs that the service still does not know after five seconds are listed as not ended', async () => {
		hurry();
		faults(refusedAt(2), () => answer(404, { message: 'no such job' }));
		const startedAt = performance.now();
		const result = await fixture.engine.run(terminate(), numbered(3));
		expect(endingsIn(result)).toMatchObject([{ success: false }, { success: false }]);
		expect(verbsSent()).toHaveLength(2 * 5);
		expect(performance.now() - startedAt).toBeGreaterThan(5_000);
		expect(performance.now() - startedAt).toBeLessThan(15_000);
	});

	test('a job is ended even if a 409 with Retry-After says that it is locked for a moment', async () => {
		hurry();
		const notNow = answer(409, { message: 'locked for a moment' }, { 'retry-after': '1' });
		faults(refusedAt(2), (_, n) => (n <= 2 ? notNow : undefined));
		const result = await fixture.engine.run(terminate(), numbered(3));
		expect(endingsIn(result)).toEqual(ended(2));
		expect(states()).toEqual(terminated(2));
		expect(verbsSent()).toHaveLength(4);
	});

	test.each(jobEnds)(
		'the option %s ends all jobs, and the error names each of them',
		async (ifStopped) => {
			const state = transitions[ifStopped].to;
			// The first request is sent again, like that of any state change.
			faults(refusedAt(12), (_, n) => (n === 1 ? answer(503) : undefined));
			const options = { ifStopped, concurrency: 4 };
			const result = await fixture.engine.run({ parameters: batch(options) }, numbered(20));
			expect(contextOf(result)).toMatchObject({ itemIndex: 12, uncertainItems: [] });
			const made = jobsOnService();
			expect(made.length).toBeGreaterThanOrEqual(12 - 3);
			expect(states()).toEqual(made.map(() => state));
			expect(new Set(verbsSent())).toEqual(new Set(made.map((uid) => `${uid} ${ifStopped}`)));
			expect(endingsIn(result)).toEqual(made.map(() => ({ operation: ifStopped, success: true })));
			expect(createdIn(result).sort()).toEqual([...made].sort());
			const { description } = result.error ?? {};
			expect(description).toContain(
				`Jobs already created (${made.length}) in namespace 'default':`,
			);
			for (const uid of made)
				expect(description).toMatch(new RegExp(`: ${uid} \\(.*\\): ${state}$`, 'm'));
			expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(4);
		},
	);

	test.each<[string, Fault, RegExp]>([
		['the service refuses to end', refused, /^The service refused to terminate the job/],
		['gets only throttled requests', { kind: 'rateLimit' }, /^The service is receiving too many/],
	])(
		'a job that %s is listed with the reason, before the jobs that were ended',
		async (_, fault, why) => {
			hurry();
			faults(refusedAt(3), (item) => (item === 1 ? fault : undefined));
			const result = await fixture.engine.run(terminate(), numbered(5));
			expect(states()).toEqual(['terminated', 'running', 'terminated']);
			const message = expect.stringMatching(why) as unknown;
			const [first, last] = ended(2);
			expect(endingsIn(result)).toEqual([
				...[first, { operation: 'terminate', success: false, message }, last],
			]);
			const { message: title, description = '' } = result.error ?? {};
			expect(title).toMatch(
				/^Job not created for item 3 \(counted from 0\); 2 of the 3 created jobs were ended: /,
			);
			expect(description).toMatch(
				/\(3\) in namespace 'default':\n• item 1: .*: could not be ended: The service .*\n• item 0: .*: terminated\n• item 2: .*: terminated$/,
			);
		},
	);

	test('in a loop, the jobs of earlier rounds keep running, and are not listed', async () => {
		creates((_, { nOfOperation }) => (nOfOperation === 6 ? refused : undefined));
		const { result } = fixture.engine.start([{ ...terminate(), runs: 2 }], numbered(3));
		expect((await result).error?.message).toMatch(/^Job not created for item 2/);
		expect(states()).toEqual([...running(3), ...terminated(2)]);
		expect(createdIn(await result)).toEqual(jobsOnService().slice(3));
	});

	test('no request is sent for a job whose ID would lead to another path, and the job is listed', async () => {
		creates((item) => (item === 0 ? answer(200, { metadata: { uid: '..' } }) : refused));
		const result = await fixture.engine.run(terminate(), numbered(2));
		expect(verbsSent()).toEqual([]);
		expect(endingsIn(result)).toMatchObject([{ success: false, message: expect.any(String) }]);
	});

	test('nothing is sent if the option differs between the items', async () => {
		const ifStopped = "={{ $json.n === 0 ? 'keep' : 'terminate' }}";
		const { error } = await fixture.engine.run(terminate({ ifStopped }), numbered(3));
		expect(error?.message).toBe(
			"Nothing was sent. 'If It Fails or Is Cancelled' differs from the first item's for items 1 and 2 (counted from 0).",
		);
		expect(error?.description).toMatch(/^It concerns the jobs of all items/);
		expect(fixture.sandbox.calls).toEqual([]);
	});
});

test('No job is ended if the workflow continues', async () => {
	creates(refusedAt(2));
	const onError = 'continueErrorOutput';
	const { items } = await fixture.engine.run({ ...terminate(), onError }, numbered(5));
	expect(items).toHaveLength(5);
	expect(verbsSent()).toEqual([]);
});

describe('A later run', () => {
	test('waits until the service can be reached again, and ends the jobs of earlier runs', async () => {
		creates(refusedAt(2));
		const failed = await fixture.engine.run(oneByOne(), numbered(4));
		expect(states()).toEqual(running(2));
		hurry();
		// The node would give up a service that has never answered after four requests.
		await awayUntil(fixture, '/terminate', 8);
		const again = await fixture.engine.retry(failed, [terminate()]);
		expect(states()).toEqual(terminated(2));
		expect(endingsIn(again)).toEqual(ended(2));
	});

	test('of Retry On Fail creates the ended jobs again, and its last error lists the jobs of all tries', async () => {
		creates(refusedAt(1));
		const result = await fixture.engine.run({ ...terminate(), settings: tries() }, numbered(2));
		expect(jobsOnService()).toHaveLength(3);
		expect(createdIn(result)).toEqual(jobsOnService());
		expect(endingsIn(result)).toEqual(ended(3));
	});

	test.each([
		['ends them', terminate(), undefined, ended(1)],
		['says again why they could not be ended', terminate(), answer(403), [{ success: false }]],
		[
			'says nothing of the earlier attempt if it is set to keep them',
			oneByOne(),
			undefined,
			[undefined],
		],
	])('without items to run, but with running jobs, %s', async (_, node, fault, endings) => {
		const isLost = (item: number) => (item === 1 ? brokenAfter : undefined);
		faults(isLost, () => answer(409));
		const failed = await fixture.engine.run(terminate(), numbered(2));
		expect(states()).toEqual(running(2));
		fixture.meets('changeJobState', () => fault);
		const again = await fixture.engine.retry(failed, [node]);
		expect(endingsIn(again)).toMatchObject(endings);
		expect(again.error?.description).not.toContain("Can't terminate");
		expect(contextOf(again)).toMatchObject({ itemIndex: 1, jobMayExist: true });
	});

	test('of Retry On Fail ends what an earlier try could not end, also with nothing left to run', async () => {
		const isLost = (item: number) => (item === 1 ? brokenAfter : undefined);
		faults(isLost, (_, n) => (n === 1 ? answer(409) : undefined));
		const result = await fixture.engine.run({ ...terminate(), settings: tries(2) }, numbered(2));
		expect(states()).toEqual(['terminated', 'running']);
		expect(endingsIn(result)).toEqual(ended(1));
		expect(timesSent()).toEqual([1, 1]);
	});

	test("of Retry creates ended jobs again, but not one that couldn't be ended", async () => {
		faults(refusedAt(2), refusedAt(1));
		const failed = await fixture.engine.run(terminate(), numbered(3));
		expect(states()).toEqual(['terminated', 'running']);
		fixture.sandbox.faults.clear();
		expect((await fixture.engine.retry(failed, [terminate()])).items).toHaveLength(3);
		expect(timesSent()).toEqual([2, 1, 2]);
		expect(states()).toEqual(['terminated', ...running(3)]);
	});

	test('creates no jobs if the job of an item may exist, and does not end that job', async () => {
		creates((item) => (item === 1 ? brokenAfter : undefined));
		const result = await fixture.engine.run({ ...terminate(), settings: tries() }, numbered(3));
		expect(timesSent()).toEqual([1, 1]);
		expect(contextOf(result)).toMatchObject({ itemIndex: 1, jobMayExist: true });
		expect(endingsIn(result)).toEqual(ended(1));
		expect(states()).toEqual(['terminated', 'running']);
	});
});

describe('If a cancel stops the node', () => {
	test('the jobs are ended, and the log lists each of them once', async () => {
		creates((item) => (item >= 5 ? { kind: 'rateLimit', retryAfter: 1 } : undefined));
		const { result, log } = await cancel(
			[{ ...terminate({ concurrency: 3 }), settings: tries() }, 20],
			() => callsOf('createJob').filter(({ status }) => status === 429).length >= 3,
		);
		expect(states()).toEqual(terminated(5));
		expect(endingsIn(result)).toEqual(ended(5));
		expect(contextOf(result).uncertainItems).toEqual([]);
		expect(log).toEqual([expect.stringContaining('was cancelled')]);
		for (const uid of jobsOnService()) expect(log[0]).toContain(`"uid":"${uid}"`);
		expect(log[0]?.match(/"cleanup":\{"operation":"terminate","success":true\}/g)).toHaveLength(5);
	});

	test('the log lists them if the cancel comes between two tries', async () => {
		creates(refusedAt(2));
		const node = { ...terminate(), settings: { ...tries(2), waitBetweenTries: 1_000 } };
		const hasCome = () => states().join() === terminated(2).join();
		const { log } = await cancel([node, 4], hasCome);
		expect(jobsOnService()).toHaveLength(2);
		for (const uid of jobsOnService()) expect(log.join()).toContain(`"uid":"${uid}"`);
	});
});
