import { getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import { batch, brokenAfter, contextOf, createdIn, gate, uncertainIn } from './batch';
import { tries, useBatch } from './batch';

/*
 * A cancel stops the node quickly. The log of n8n and the editor then list every job that exists or may exist.
 */

const { fixture, creates, jobsOnService, cancel } = useBatch();
const { callsOf, meets } = fixture;

const THE_CANCEL = { message: 'The execution was cancelled' };
const node = { parameters: batch() };

describe('A cancel', () => {
	test.each([
		['a Concurrency', { concurrency: 3 }, 'stopWorkflow', 6, 9],
		['no Concurrency', {}, 'stopWorkflow', 0, 10],
		['a workflow that continues on errors', { concurrency: 2 }, 'continueRegularOutput', 2, 4],
	] as const)(
		'sends no further request, waits for those in flight, and logs every created job, with %s',
		async (_, options, onError, quick, sent) => {
			const held = gate();
			creates((item) => (item >= quick ? held.fault : undefined));
			const { result, log } = await cancel(
				[{ parameters: batch(options), onError }, 50],
				() => callsOf('createJob').length === sent,
				held.open,
			);
			expect(jobsOnService()).toHaveLength(sent);
			expect(callsOf('createJob')).toHaveLength(sent);
			const context = { itemIndex: sent, uncertainItems: [] };
			expect(result.error).toMatchObject({ ...THE_CANCEL, context });
			expect(createdIn(result).sort()).toEqual(jobsOnService().sort());

			// n8n drops the error of a cancelled node, so its log must contain the list, too.
			expect(log).toEqual([
				expect.stringMatching(
					/^Execution \S+, node "Node 1" was cancelled\. .*\. Jobs that may exist: none$/,
				),
			]);
			for (const uid of jobsOnService()) expect(log[0]).toContain(`: ${uid} ('Job `);
		},
	);

	test('waits for requests in flight no longer than Timeout, and says that their jobs may exist', async () => {
		const { runOut } = hurry();
		creates(() => ({ kind: 'drip', when: 'afterActing' }));
		const hasCome = () => jobsOnService().length === 3;
		const { result, log } = await cancel([node, 3], hasCome, runOut);
		expect(result.error?.message).toMatch(/didn't answer within 60 s; the job may exist/);
		expect(contextOf(result).itemIndex).toBe(0);
		expect(uncertainIn(result)).toEqual([0, 1, 2]);
		expect(log).toEqual([
			expect.stringMatching(
				/already created: none\. Jobs that may exist: item 0: .* item 1: .* item 2: /,
			),
		]);
		expect(callsOf('createJob')).toHaveLength(3);
	});

	test('of many creates is logged in several parts, which name each job once, not once for each try', async () => {
		const held = gate();
		const count = 160;
		// A hundred are in flight at last: items 60 to 159, of which the last sixty get no response.
		creates((item) =>
			item < 60 ? undefined : item < 100 ? held.fault : [held.fault, brokenAfter],
		);
		const { log } = await cancel(
			[{ parameters: batch({ concurrency: 100 }), settings: tries() }, count],
			() => callsOf('createJob').length === count,
			held.open,
		);
		const mayExist = log.flatMap((line) => {
			expect(String(line).length).toBeLessThan(9_000);
			const [, jobs = ''] = /may exist: (.*)$/.exec(String(line)) ?? [];
			return [...jobs.matchAll(/item (\d+): /g)].map(([, item]) => Number(item));
		});
		expect(mayExist).toEqual(Array.from({ length: 60 }, (_, n) => 100 + n));
		const named = jobsOnService().map((uid) => log.filter((line) => String(line).includes(uid)));
		expect(named.filter(({ length }) => length === 1)).toHaveLength(100);
		expect(named.filter(({ length }) => length === 0)).toHaveLength(60);
	});

	test('aborts a list that is being received', async () => {
		meets('listClusters', () => ({ kind: 'drip', when: 'beforeActing' }));
		const list = { parameters: getAll() };
		// Without the cancel, the response would last for a minute, which is longer than a test may take.
		const { result, log } = await cancel([list, 1], () => callsOf('listClusters').length === 1);
		expect(log).toEqual([]);
		expect(result.error).toMatchObject(THE_CANCEL);
	});

	test('while the parameters are being read sends nothing', async () => {
		const { result, log } = await cancel([node, 3_000], () => true);
		expect(result.error).toMatchObject({
			...THE_CANCEL,
			context: { itemIndex: 0, createdJobs: [], uncertainItems: [] },
		});
		expect(log).toEqual([expect.stringMatching(/: none\. Jobs that may exist: none$/)]);
		expect(fixture.sandbox.calls).toEqual([]);
	});
});
