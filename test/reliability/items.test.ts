import type { IDataObject } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { change, getAll, numbered } from '../support/fixture';
import type { Result } from '../support/run';
import { until } from '../sandbox/client';
import { batch, brokenAfter, gate, itemOf, refused, useBatch } from './batch';

/*
 * What becomes of the items of a batch when some of them go wrong.
 */

const { fixture, creates, jobsOnService } = useBatch();

describe('The output', () => {
	test('is in the order of the items, whichever is answered first', async () => {
		const gates = Array.from({ length: 12 }, gate);
		creates((item) => ({
			kind: 'wait',
			when: 'afterActing',
			until: gates[item]?.opened ?? Promise.resolve(),
		}));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 12 }) }],
			numbered(12),
		);
		await until(() => fixture.sandbox.store.jobs.size === 12);

		const answered: number[] = [];
		for (const item of [11, 3, 7, 0, 10, 1, 9, 2, 8, 4, 6, 5]) {
			gates[item]?.open();
			await until(() =>
				fixture.callsOf('createJob').some((c) => c.status === 200 && itemOf(c) === item),
			);
			answered.push(item);
		}
		const { items } = await running.result;
		expect(answered[0]).toBe(11);
		expect(items.map(({ json, pairedItem }) => [json.displayName, pairedItem])).toEqual(
			numbered(12).map(({ n }) => [`Job ${String(n)}`, { item: n }]),
		);
	});

	test('of items that give several is in their order as well', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			const until = nOfOperation === 1 ? second.opened : Promise.resolve();
			return operation === 'listClusters'
				? { kind: 'wait', when: 'afterActing', until }
				: undefined;
		});
		const second = gate();
		const running = fixture.engine.start(
			[{ parameters: getAll({ limit: '={{ $json.n + 1 }}' }) }],
			numbered(3),
		);
		await until(() => fixture.callsOf('listClusters').filter((c) => c.status === 200).length === 2);
		second.open();
		const { items } = await running.result;
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 1, 2, 2, 2].map((item) => ({ item })),
		);
	});
});

describe('Concurrency', () => {
	test.each([1, 3, 10])('%i: so many requests are under way at once, and no more', async (most) => {
		let underWay = 0;
		let highest = 0;
		creates(() => {
			underWay += 1;
			highest = Math.max(highest, underWay);
			const answered = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
				underWay -= 1;
			});
			return { kind: 'wait', when: 'afterActing', until: answered };
		});
		await fixture.engine.run({ parameters: batch({ concurrency: most }) }, numbered(60));
		expect(fixture.sandbox.store.jobs.size).toBe(60);
		expect(highest).toBeLessThanOrEqual(most);
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(most);
	});

	test.each([3, 10])('%i is made use of', async (most) => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: most }) }],
			numbered(60),
		);
		await until(() => fixture.callsOf('createJob').length === most);
		all.open();
		expect((await running.result).items).toHaveLength(60);
	});

	test('is ten where nothing is said', async () => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start([{ parameters: batch() }], numbered(30));
		await until(() => fixture.callsOf('createJob').length === 10);
		all.open();
		await running.result;
		expect(fixture.sandbox.connections.peak).toBe(10);
	});

	test('that differs from item to item is the lowest', async () => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: '={{ $json.n === 5 ? 2 : $json.n + 4 }}' }) }],
			numbered(12),
		);
		await until(() => fixture.callsOf('createJob').length === 2);
		all.open();
		await running.result;
		// One may be left of the log-in.
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(3);
	});

	test('is a hundred at most', async () => {
		const all = gate();
		creates(() => ({ kind: 'wait', when: 'beforeActing', until: all.opened }));
		const running = fixture.engine.start(
			[{ parameters: batch({ concurrency: 300 }) }],
			numbered(150),
		);
		await until(() => fixture.callsOf('createJob').length >= 100);
		all.open();
		expect((await running.result).items).toHaveLength(150);
		// One may be left of the login.
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(101);
	});

	test.each([1_000_000, 10_000_000_000])('%i is more than there are items', async (concurrency) => {
		const { items, error } = await fixture.engine.run(
			{ parameters: batch({ concurrency }) },
			numbered(3),
		);
		expect(error?.message).toBeUndefined();
		expect(items).toHaveLength(3);
	});
});

describe('Where the workflow continues', () => {
	const outcomes: Array<[number, Fault, IDataObject]> = [
		[3, refused, { httpStatus: 400, jobMayExist: false }],
		[5, brokenAfter, { httpStatus: null, jobMayExist: true }],
		[6, { kind: 'break', when: 'beforeActing' }, { httpStatus: null, jobMayExist: true }],
		[8, actAndAnswer(500), { httpStatus: 500, jobMayExist: true }],
		[11, answer(409), { httpStatus: 409, jobMayExist: false }],
	];
	const failing = new Map(outcomes.map(([item, fault]) => [item, fault]));
	const detailsOf = new Map(
		outcomes.map(([item, , details]) => [
			item,
			{ itemIndex: item, description: expect.stringMatching(/\S/), ...details },
		]),
	);

	test('in the one output, every item is there once: its job, or its error', async () => {
		creates((item) => failing.get(item));
		const { items, error } = await fixture.engine.run(
			{ parameters: batch({ maxRetries: 0 }), onError: 'continueRegularOutput' },
			numbered(14),
		);
		expect(error).toBeUndefined();
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			numbered(14).map(({ n }) => ({ item: n })),
		);
		for (const [item, { json }] of items.entries()) {
			if (failing.has(item)) {
				expect(json).toEqual({
					message: expect.stringMatching(/\S/),
					error: detailsOf.get(item),
				});
			} else {
				expect(json.displayName).toBe(`Job ${item}`);
			}
		}
	});

	test('with the error output, every item is in one of the two', async () => {
		creates((item) => failing.get(item));
		const { branches, error } = await fixture.engine.run(
			{ parameters: batch({ maxRetries: 0 }), onError: 'continueErrorOutput' },
			numbered(14),
		);
		expect(error).toBeUndefined();
		expect(branches).toHaveLength(2);
		expect(branches[0]?.map(({ json }) => json.displayName)).toEqual(
			numbered(14).flatMap(({ n }) => (failing.has(Number(n)) ? [] : [`Job ${String(n)}`])),
		);
		expect(branches[1]?.map(({ json }) => json)).toEqual(
			outcomes.map(([item]) => ({
				n: item,
				message: expect.stringMatching(/\S/),
				error: detailsOf.get(item),
			})),
		);
	});

	test('all items fail, and all of them are there', async () => {
		creates(() => refused);
		const { branches } = await fixture.engine.run(
			{ parameters: batch(), onError: 'continueErrorOutput' },
			numbered(40),
		);
		expect(branches.map((branch) => branch.length)).toEqual([0, 40]);
	});

	test('state changes say per item what came of them', async () => {
		await fixture.engine.run({ parameters: batch() }, numbered(2));
		const ids = [jobsOnService()[0], 'gone', jobsOnService()[1]];
		const { branches } = await fixture.engine.run(
			{ parameters: change('stop', { jobId: '={{ $json.id }}' }), onError: 'continueErrorOutput' },
			ids.map((id) => ({ id })),
		);
		expect(branches[0]?.map(({ json }) => json.metadata)).toMatchObject([
			{ uid: ids[0] },
			{ uid: ids[2] },
		]);
		expect(branches[1]?.map(({ json }) => json)).toEqual([
			{
				id: 'gone',
				message: "No job 'gone' in namespace 'default'",
				error: {
					itemIndex: 1,
					httpStatus: 404,
					description: expect.stringMatching(/^The service/),
				},
			},
		]);
	});

	test.each([
		['continueRegularOutput', [[0, 1, 2]]],
		['continueErrorOutput', [[], [0, 1, 2]]],
	] as const)(
		'each item ends as its error where this version does not have the operation: %s',
		async (onError, expected) => {
			const { branches, error } = await fixture.engine.run(
				{ parameters: { ...batch(), operation: 'archive' }, onError },
				numbered(3),
			);
			expect(error).toBeUndefined();
			expect(
				branches.map((items) =>
					items.map(({ json, pairedItem }) => {
						expect(JSON.stringify(json)).toMatch(/has no operation \\"archive\\"/);
						return (pairedItem as { item: number }).item;
					}),
				),
			).toEqual(expected);
			expect(fixture.sandbox.calls).toEqual([]);
		},
	);

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'a failed item keeps its files: %s',
		async (onError) => {
			creates((item) => (item === 1 ? refused : undefined));
			const binary = { file: { data: 'aGk=', mimeType: 'text/plain', fileName: 'hi.txt' } };
			const { branches } = await fixture.engine.run(
				{ parameters: batch(), onError },
				numbered(2).map((json) => ({ ...json, $binary: binary })),
			);
			const failed = branches.flat().filter(({ json }) => json.error !== undefined);
			expect(failed).toMatchObject([{ binary, pairedItem: { item: 1 } }]);
		},
	);

	describe('a hint above the output', () => {
		const hintsOf = ({ run }: Result) => run.data.resultData.runData['Node 1']?.[0]?.hints;

		test('says which items have failed, and how many of them may have created a job', async () => {
			creates((item) => failing.get(item));
			const result = await fixture.engine.run(
				{ parameters: batch({ maxRetries: 0 }), onError: 'continueErrorOutput' },
				numbered(14),
			);
			expect(hintsOf(result)).toEqual([
				{
					message:
						'5 of 14 items failed: items 3, 5, 6, 8 and 11. The jobs of 3 of them may exist: look for them on the service before you run those items again.',
					type: 'warning',
					location: 'outputPane',
				},
			]);
		});

		test.each([
			[
				1,
				'1 of 6 items failed: item 0. Its job may exist: look for it on the service before you run that item again.',
			],
			[
				2,
				'2 of 6 items failed: items 0 and 1. The jobs of 2 of them may exist: look for them on the service before you run those items again.',
			],
		])('speaks of %i whose job may exist', async (count, message) => {
			creates((item) => (item < count ? brokenAfter : undefined));
			const result = await fixture.engine.run(
				{ parameters: batch(), onError: 'continueRegularOutput' },
				numbered(6),
			);
			expect(hintsOf(result)).toMatchObject([{ message }]);
		});

		test('speaks of one of several whose job may exist', async () => {
			creates((item) => (item === 0 ? brokenAfter : item === 1 ? refused : undefined));
			const result = await fixture.engine.run(
				{ parameters: batch(), onError: 'continueRegularOutput' },
				numbered(6),
			);
			expect(hintsOf(result)).toMatchObject([
				{
					message:
						'2 of 6 items failed: items 0 and 1. The job of one of them may exist: look for it on the service before you run that item again.',
				},
			]);
		});

		test('speaks of no jobs where none may exist', async () => {
			creates((item) => (item === 1 ? refused : undefined));
			const result = await fixture.engine.run(
				{ parameters: batch(), onError: 'continueRegularOutput' },
				numbered(3),
			);
			expect(hintsOf(result)).toMatchObject([{ message: '1 of 3 items failed: item 1.' }]);
		});

		test('is not there where none has failed', async () => {
			const result = await fixture.engine.run(
				{ parameters: batch(), onError: 'continueRegularOutput' },
				numbered(3),
			);
			expect(hintsOf(result)).toEqual([]);
		});
	});
});
