import type { IDataObject } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { actAndAnswer, answer } from '../support/answer';
import { change, getAll, numbered } from '../support/fixture';
import { until } from '../sandbox/client';
import { batch, brokenAfter, continuing, errorsIn, gate } from './batch';
import { refused, refusedAt, useBatch } from './batch';

/*
 * Each item of a batch has exactly one result, in the order of the items, even if some items fail. A Concurrency is
 * never exceeded.
 */

const { fixture, creates } = useBatch();

test('The output is in the order of the items, whatever the order of the responses', async () => {
	const order = [3, 0, 4, 1, 5, 2];
	const answered = () => fixture.callsOf('listClusters').filter(({ status }) => status === 200);
	fixture.meets('listClusters', ({ query }) => ({
		...{ kind: 'wait', when: 'afterActing' },
		until: until(() => answered().length === order.indexOf(Number(query['ListOption.limit']) - 1)),
	}));
	const limit = '={{ $json.n + 1 }}';
	const parameters = getAll({ limit, options: { concurrency: 6 } });
	const { items } = await fixture.engine.run({ parameters }, numbered(6));
	// Item 0 has one result, item 1 has two, and so on.
	const ends = numbered(6).flatMap(({ n }) => new Array(Number(n) + 1).fill({ item: n }));
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(ends);
});

test.each<[concurrency: number, count: number, most: number]>([
	[3, 60, 3],
	[300, 150, 100],
])(
	'A Concurrency of %s is never exceeded: of %i items, at most %i are in flight',
	async (concurrency, count, most) => {
		const held = gate('afterActing');
		creates(() => held.fault);
		const parameters = batch({ concurrency });
		const running = fixture.engine.start([{ parameters }], numbered(count));
		await until(() => fixture.callsOf('createJob').length === most);
		held.open();
		expect((await running.result).items).toHaveLength(count);
		expect(fixture.sandbox.limits.met.most).toBe(most);
		// The connection of the login may still be open.
		expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(Math.max(most, 10) + 1);
	},
);

describe('If the workflow continues', () => {
	const outcomes: Array<[number, Fault, IDataObject]> = [
		[3, refused, { httpStatus: 400, jobMayExist: false }],
		[5, brokenAfter, { httpStatus: null, jobMayExist: true }],
		[6, { kind: 'break', when: 'beforeActing' }, { httpStatus: null, jobMayExist: true }],
		[8, actAndAnswer(500), { httpStatus: 500, jobMayExist: true }],
		[11, answer(409), { httpStatus: 409, jobMayExist: false }],
	];
	const failing = new Map(outcomes.map(([item, fault]) => [item, fault]));

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'every item is returned once, as its job or as an error with itemIndex, httpStatus and jobMayExist: %s',
		async (onError) => {
			creates((item) => failing.get(item));
			const parameters = batch({ maxRetries: 0 });
			const { items, branches } = await fixture.engine.run({ parameters, onError }, numbered(14));
			const says = expect.stringMatching(/\S/) as unknown;
			expect(errorsIn({ items })).toEqual(
				outcomes.map(([item, , details]) => ({
					message: says,
					error: { itemIndex: item, description: says, ...details },
					// n8n itself adds the input of the item to the error output.
					...(onError === 'continueErrorOutput' && { n: item }),
				})),
			);
			expect(branches.map(({ length }) => length)).toEqual(
				onError === 'continueErrorOutput' ? [9, 5] : [14],
			);
			const names = items.flatMap(({ json }) => json.displayName ?? []);
			expect(names).toEqual([0, 1, 2, 4, 7, 9, 10, 12, 13].map((n) => `Job ${n}`));
		},
	);

	test('a failed state change is returned without jobMayExist', async () => {
		const parameters = change('stop', { jobId: 'gone' });
		const onError = 'continueErrorOutput';
		const { branches } = await fixture.engine.run({ parameters, onError });
		const message = expect.stringMatching(/^No job 'gone' in namespace 'default': /) as unknown;
		const description = expect.stringMatching(/\nThe service says/) as unknown;
		const error = { itemIndex: 0, httpStatus: 404, description };
		expect(branches).toEqual([[], [{ json: { message, error }, pairedItem: { item: 0 } }]]);
	});

	test('a failed item keeps its binary data', async () => {
		creates(refusedAt(1));
		const binary = { file: { data: 'aGk=', mimeType: 'text/plain', fileName: 'hi.txt' } };
		const { branches } = await fixture.engine.run(
			{ parameters: batch(), onError: 'continueErrorOutput' },
			numbered(2).map((json) => ({ ...json, $binary: binary })),
		);
		expect(branches[1]).toMatchObject([{ binary, pairedItem: { item: 1 } }]);
	});

	test.each<[faults: Fault[], ...hints: string[]]>([
		[[]],
		[[refused], '1 of 6 items failed: item 0. Items are counted from 0.'],
		[
			[brokenAfter, brokenAfter, refused],
			'3 of 6 items failed: items 0 to 2. Items are counted from 0. The job may exist for items 0 to 1: look for it on the service before you run the item again.',
		],
	])('a hint names the items that failed, and those whose job may exist: %j', async (...row) => {
		const [faults, ...expected] = row;
		creates((item) => faults[item]);
		const { hints } = await fixture.engine.run(continuing(), numbered(6));
		expect(hints).toEqual(expected);
	});
});

test('A hint warns in the editor that executing the step again creates further jobs', async () => {
	fixture.engine.mode = 'manual';
	const { run } = await fixture.engine.run({ parameters: batch() }, numbered(3));
	const message = 'Executing this step again creates another job for each item.';
	expect(run.data.resultData.runData['Node 1']?.[0]?.hints).toEqual([
		{ message, type: 'info', location: 'outputPane' },
	]);
});
