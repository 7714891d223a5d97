import type { IDataObject } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { change, getAll, numbered } from '../support/fixture';
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

test.each<[concurrency: number | string | undefined, count: number, most: number]>([
	[1, 30, 1],
	[3, 60, 3],
	// It is the lowest that holds.
	['={{ $json.n === 5 ? 2 : $json.n + 4 }}', 12, 2],
	[300, 150, 100],
])(
	'with a Concurrency of %s, %i items are in flight %i at once',
	async (concurrency, count, most) => {
		const all = gate();
		let inFlight = 0;
		let highest = 0;
		creates(() => {
			inFlight += 1;
			highest = Math.max(highest, inFlight);
			const answered = all.opened.then(() => new Promise((resolve) => setImmediate(resolve)));
			return { kind: 'wait', when: 'afterActing', until: answered.then(() => (inFlight -= 1)) };
		});
		const parameters = batch(concurrency === undefined ? {} : { concurrency });
		const running = fixture.engine.start([{ parameters }], numbered(count));
		await until(() => inFlight === most);
		all.open();
		expect((await running.result).items).toHaveLength(count);
		// Without one, the node sends more as long as answers are quick.
		if (concurrency !== undefined) expect(highest).toBe(most);
		// One may be left of the login.
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(Math.max(most, 10) + 1);
	},
);

describe('Where the workflow continues', () => {
	const outcomes: Array<[number, Fault, IDataObject]> = [
		[3, refused, { httpStatus: 400, jobMayExist: false }],
		[5, brokenAfter, { httpStatus: null, jobMayExist: true }],
		[6, { kind: 'break', when: 'beforeActing' }, { httpStatus: null, jobMayExist: true }],
		[8, actAndAnswer(500), { httpStatus: 500, jobMayExist: true }],
		[11, answer(409), { httpStatus: 409, jobMayExist: false }],
	];
	const failing = new Map(outcomes.map(([item, fault]) => [item, fault]));

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'every item is there once, as its job or as its error: %s',
		async (onError) => {
			creates((item) => failing.get(item));
			const parameters = batch({ maxRetries: 0 });
			const { items, branches } = await fixture.engine.run({ parameters, onError }, numbered(14));
			const failed = items.map(({ json }) => json).filter(({ error }) => error !== undefined);
			const says = expect.stringMatching(/\S/) as unknown;
			expect(failed).toEqual(
				outcomes.map(([item, , details]) => ({
					message: says,
					error: { itemIndex: item, description: says, ...details },
					// n8n itself adds the item's input in its error output.
					...(onError === 'continueErrorOutput' && { n: item }),
				})),
			);
			expect(branches.map(({ length }) => length)).toEqual(
				onError === 'continueErrorOutput' ? [9, 5] : [14],
			);
			const names = items.flatMap(({ json }) => json.displayName ?? []);
			const made = numbered(14).filter(({ n }) => !failing.has(Number(n)));
			expect(names).toEqual(made.map(({ n }) => `Job ${String(n)}`));
		},
	);

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
					description: expect.stringMatching(/\nThe service says/),
				},
			},
		]);
	});

	test.each([
		['continueRegularOutput', [3]],
		['continueErrorOutput', [0, 3]],
	] as const)(
		'each item ends as its error where this version does not have the operation: %s',
		async (onError, lengths) => {
			const node = { parameters: { ...batch(), operation: 'archive' }, onError };
			const { branches, items } = await fixture.engine.run(node, numbered(3));
			expect(branches.map(({ length }) => length)).toEqual(lengths);
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
				[0, 1, 2].map((item) => ({ item })),
			);
			for (const { json } of items) {
				expect(JSON.stringify(json)).toMatch(/has no operation \\"archive\\"/);
			}
			expect(fixture.sandbox.calls).toEqual([]);
		},
	);

	test('a failed item keeps its files', async () => {
		creates((item) => (item === 1 ? refused : undefined));
		const binary = { file: { data: 'aGk=', mimeType: 'text/plain', fileName: 'hi.txt' } };
		const { branches } = await fixture.engine.run(
			{ parameters: batch(), onError: 'continueErrorOutput' },
			numbered(2).map((json) => ({ ...json, $binary: binary })),
		);
		expect(branches[1]).toMatchObject([{ binary, pairedItem: { item: 1 } }]);
	});

	describe('a hint above the output', () => {
		const look = 'look for it on the service before you run the item again.';

		test('warns in the editor that the step creates again', async () => {
			fixture.engine.mode = 'manual';
			const { run } = await fixture.engine.run({ parameters: batch() }, numbered(3));
			const message = 'Executing this step again creates another job for each item.';
			expect(run.data.resultData.runData['Node 1']?.[0]?.hints).toEqual([
				{ message, type: 'info', location: 'outputPane' },
			]);
		});

		test.each([
			[[], undefined],
			[[refused], '1 of 6 items failed: item 0 (counted from 0).'],
			[
				[brokenAfter, brokenAfter, refused],
				`3 of 6 items failed: items 0 to 2 (counted from 0). The job may exist for items 0 and 1: ${look}`,
			],
		])(
			'names the items that failed, and those whose job may exist: %j',
			async (faults, message) => {
				creates((item) => faults[item]);
				const onError = 'continueRegularOutput';
				const { run } = await fixture.engine.run({ parameters: batch(), onError }, numbered(6));
				const hint = { message, type: 'warning', location: 'outputPane' };
				expect(run.data.resultData.runData['Node 1']?.[0]?.hints).toEqual(message ? [hint] : []);
			},
		);
	});
});
