import { getEventListeners } from 'node:events';

import type { IExecuteFunctions } from 'n8n-workflow';

import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Result } from '../support/run';
import { until } from '../sandbox/client';
import { batch, refused, createdIn, gate, useBatch } from './batch';

/*
 * What becomes of a batch that is cancelled.
 */

const { fixture, creates, jobsOnService } = useBatch();

describe('A cancel', () => {
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** What the node does in a run that is cancelled: n8n keeps neither its error nor its output. */
	function watchNode() {
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		/** n8n's side of the node, once it has begun. */
		const begun = async () => {
			await until(() => execute.mock.calls.length === 1);
			return (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		};
		/** What it says in n8n's log from now on. */
		const log = async () => {
			const warn = jest.spyOn((await begun()).logger, 'warn').mockImplementation();
			return () => warn.mock.calls.map(([text]) => text);
		};
		/** The error in which the node ends. */
		const end = async (): Promise<unknown> => {
			try {
				return await execute.mock.results[0]?.value;
			} catch (error) {
				return error;
			}
		};
		return { begun, log, end };
	}

	test('begins no request, and awaits those under way: no job is left unknown', async () => {
		const held = gate();
		const { log, end } = watchNode();
		creates((item) =>
			item >= 6 ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
		);
		const running = fixture.engine.start([{ parameters: batch({ concurrency: 3 }) }], numbered(50));
		await until(() => fixture.callsOf('createJob').length === 9);
		const logged = await log();
		running.cancel();
		held.open();
		await running.result;
		const error = await end();
		expect(jobsOnService()).toHaveLength(9);
		expect(fixture.callsOf('createJob')).toHaveLength(9);
		expect(error).toMatchObject({
			message: 'The execution was cancelled',
			context: { itemIndex: 9, uncertainItems: [] },
		});
		expect(createdIn({ error } as Result).sort()).toEqual(jobsOnService().sort());

		// n8n drops the error of a cancelled node: its log has the list as well.
		expect(logged()).toEqual([
			expect.stringMatching(
				/^Execution \S+, node "Node 1" was cancelled\. .* Items whose job may exist: \[\]$/,
			),
		]);
		for (const uid of jobsOnService()) {
			expect(logged()).toEqual([expect.stringContaining(`"uid":"${uid}"`)]);
		}
	});

	test('leaves items that wait for their turn as if they had never begun', async () => {
		const held = gate();
		const { end } = watchNode();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: held.opened }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(30));
		await until(() => fixture.callsOf('createJob').length === 10);
		running.cancel();
		held.open();
		await running.result;
		const error = await end();
		expect(error).toMatchObject({
			message: 'The execution was cancelled',
			context: { itemIndex: 10, uncertainItems: [] },
		});
		expect(createdIn({ error } as Result).sort()).toEqual(jobsOnService().sort());
		expect(fixture.callsOf('createJob')).toHaveLength(10);
	});

	test('ends a wait at once', async () => {
		const { end } = watchNode();
		creates(() => ({ kind: 'rateLimit', retryAfter: 25 }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3));
		// The requests are answered before that: what is cut short is the wait.
		await until(() => fixture.callsOf('createJob').filter((c) => c.status === 429).length === 3);
		const cancelledAt = Date.now();
		running.cancel();
		await running.result;
		expect(await end()).toMatchObject({ context: { httpStatus: 429, uncertainItems: [] } });
		expect(Date.now() - cancelledAt).toBeLessThan(15_000);
		expect(fixture.callsOf('createJob')).toHaveLength(3);
	});

	test('says the same where the workflow would continue after an error', async () => {
		const held = gate();
		const { end } = watchNode();
		creates((item) =>
			item >= 2 ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
		);
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 2 }), onError: 'continueRegularOutput' }],
			numbered(20),
		);
		await until(() => fixture.callsOf('createJob').length === 4);
		running.cancel();
		held.open();
		await running.result;
		const error = await end();
		expect(error).toHaveProperty('message', 'The execution was cancelled');
		expect(error).toMatchObject({ context: { itemIndex: 4, uncertainItems: [] } });
		expect(jobsOnService()).toHaveLength(4);
		expect(createdIn({ error } as Result).sort()).toEqual(jobsOnService().sort());
	});

	test('waits no longer than Timeout for what is under way, which may exist then', async () => {
		const { runOut } = hurry();
		const { log, end } = watchNode();
		creates(() => ({ kind: 'drip', when: 'afterActing' }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3));
		const logged = await log();
		await until(() => jobsOnService().length === 3);
		running.cancel();
		runOut();
		await running.result;
		expect(await end()).toMatchObject({
			message: expect.stringMatching(/didn't answer within 60 s; the job may exist/),
			context: { itemIndex: 0, uncertainItems: [1, 2] },
		});
		expect(logged()).toEqual([expect.stringMatching(/Items whose job may exist: \[0,1,2\]$/)]);
		expect(fixture.callsOf('createJob')).toHaveLength(3);
	});

	test('sends nothing again whose token was rejected meanwhile', async () => {
		await fixture.engine.run({ parameters: getAll() });
		const held = gate();
		const { end } = watchNode();
		creates(() => [
			{ kind: 'wait', when: 'beforeActing', until: held.opened },
			{ kind: 'expireTokens' },
		]);
		const running = fixture.engine.start([{ parameters: batch() }], numbered(2));
		await until(() => fixture.callsOf('createJob').length === 2);
		running.cancel();
		held.open();
		await running.result;
		expect(await end()).toMatchObject({
			message: 'The execution was cancelled',
			context: { jobMayExist: false, uncertainItems: [] },
		});
		expect(fixture.callsOf('createJob')).toHaveLength(2);
		expect(fixture.callsOf('login')).toHaveLength(1);
	});

	test('that never comes is not spoken of, and waited for no longer than the node runs', async () => {
		const { log } = watchNode();
		const listeners = jest.spyOn(AbortSignal.prototype, 'addEventListener');
		creates((item) => (item === 2 ? refused : undefined));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3));
		const logged = await log();
		await running.result;
		expect(logged()).toEqual([]);
		for (const signal of listeners.mock.contexts) {
			expect(getEventListeners(signal, 'abort')).toEqual([]);
		}
	});

	test('during the log-in sends nothing afterwards', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? { kind: 'wait', when: 'afterActing', until: held.opened } : undefined,
		);
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(5));
		await until(() => fixture.sandbox.tokens.issued === 1);
		running.cancel();
		held.open();
		await running.result;
		await end();
		expect(fixture.callsOf('createJob')).toEqual([]);
	});

	test('cuts off a list that is being read', async () => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'listClusters' ? { kind: 'drip', when: 'beforeActing' } : undefined,
		);
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: getAll() }], [{}]);
		await until(() => fixture.callsOf('listClusters').length === 1);
		const cancelledAt = Date.now();
		running.cancel();
		await running.result;
		expect(await end()).toHaveProperty('message', 'The execution was cancelled');
		// Else the answer would go on for a minute.
		expect(Date.now() - cancelledAt).toBeLessThan(15_000);
	});

	test('cuts off a list that is being read, although another has been read by then', async () => {
		const lists = () => fixture.callsOf('listClusters');
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters' && nOfOperation === 2
				? { kind: 'drip', when: 'beforeActing' }
				: undefined,
		);
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: getAll() }], [{}, {}]);
		await until(() => lists().length === 2 && lists().some(({ status }) => status === 200));
		// The node has to have read that answer, too.
		await new Promise((resolve) => setTimeout(resolve, 200));
		const cancelledAt = Date.now();
		running.cancel();
		await running.result;
		expect(await end()).toHaveProperty('message', 'The execution was cancelled');
		expect(Date.now() - cancelledAt).toBeLessThan(15_000);
	});

	test('between the pages of a list asks for no further page', async () => {
		const held = gate();
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters' && nOfOperation === 2
				? { kind: 'wait', when: 'beforeActing', until: held.opened }
				: undefined,
		);
		const { log, end } = watchNode();
		const running = fixture.engine.start(
			[{ parameters: getAll({ returnAll: true, options: { pageSize: 1 } }) }],
			[{}],
		);
		await until(() => fixture.callsOf('listClusters').length === 2);
		const logged = await log();
		running.cancel();
		held.open();
		await running.result;
		await end();
		expect(logged()).toEqual([]);
		expect(fixture.callsOf('listClusters')).toHaveLength(2);
	});

	test('while the parameters are being read sends nothing', async () => {
		const { log, end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(3_000));
		const logged = await log();
		running.cancel();
		await running.result;
		const error = await end();
		expect(error).toHaveProperty('message', 'The execution was cancelled');
		expect(error).toMatchObject({
			description: 'This is about item 0, counting from 0.',
			context: { itemIndex: 0, createdJobs: [], uncertainItems: [] },
		});
		expect(logged()).toEqual([
			expect.stringMatching(/Jobs created by then: \[\]\. Items whose job may exist: \[\]$/),
		]);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test('that comes before the first request sends none', async () => {
		const { end } = watchNode();
		const running = fixture.engine.start([{ parameters: batch() }], numbered(5));
		running.cancel();
		await running.result;
		await end();
		expect(fixture.sandbox.calls).toEqual([]);
	});
});
