import type { INodeParameters } from 'n8n-workflow';

import { answer } from '../support/answer';
import { getAll, numbered, useSandbox } from '../support/fixture';

const fixture = useSandbox();

describe('Filters that match none', () => {
	const clusterOf = (type: unknown, phase: unknown, uid = `c-${String(type)}`) => ({
		metadata: { uid },
		type,
		status: { phase },
	});
	const six = [
		...['master', 'virtual', 'master', 'virtual'].map((type, n) =>
			clusterOf(type, 'Running', `c${n}`),
		),
		clusterOf(7, '<b>Pending</b>'),
		{ metadata: { uid: 'c5' } },
	];

	/** The hints above the output of a list of these clusters. */
	async function hintsFor(clusters: object[], filters: INodeParameters, runs = 1) {
		fixture.answerWith('listClusters', { items: clusters, metadata: {} });
		const { items, run } = await fixture.engine.run(
			{ parameters: getAll({ filters }) },
			Array.from({ length: runs }, () => ({})),
		);
		expect(items).toEqual([]);
		return run.data.resultData.runData['Node 1']?.[0]?.hints?.map(({ message }) => message);
	}

	test.each<[INodeParameters, string]>([
		[{ type: 'Virtuel' }, 'Types found: master, virtual.'],
		[{ phase: 'Stopped' }, 'Phases found: ‹b›Pending‹/b›, Running.'],
		[
			{ type: 'master', phase: 'Stopped' },
			'Types found: master, virtual. Phases found: ‹b›Pending‹/b›, Running.',
		],
	])('say what came instead: %j', async (filters, found) => {
		const hints = await hintsFor(six, filters, 3);
		expect(hints).toEqual([`None of the clusters matches (6 in all). ${found}`]);
	});

	test('say so of a single cluster, and of many values', async () => {
		expect(await hintsFor([{ metadata: { uid: 'c' } }], { type: 'x' })).toEqual([
			'None of the clusters matches (1 in all). Types found: none.',
		]);
		const many = Array.from({ length: 12 }, (_, n) => clusterOf(`t${10 + n}`, ''));
		expect(await hintsFor(many, { type: 'x' })).toEqual([
			'None of the clusters matches (12 in all). Types found: t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, ….',
		]);
	});

	test('are five hints at most, if items get different clusters', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'listClusters'
				? answer(200, { items: [clusterOf(`t${nOfOperation}`, '')], metadata: {} })
				: undefined,
		);
		const { run } = await fixture.engine.run(
			{ parameters: getAll({ filters: { type: 'x' } }) },
			numbered(7),
		);
		expect(run.data.resultData.runData['Node 1']?.[0]?.hints).toHaveLength(5);
	});

	test('say nothing where no cluster came', async () => {
		expect(await hintsFor([], { type: 'x' })).toEqual([]);
	});

	test('show no secret that a cluster is named after', async () => {
		const [hint] =
			(await hintsFor([clusterOf(fixture.sandbox.password, 'Running')], { type: 'x' })) ?? [];
		expect(hint).toBeDefined();
		expect(hint).not.toContain(fixture.sandbox.password);
	});
});
