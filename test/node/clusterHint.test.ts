import type { INodeParameters } from 'n8n-workflow';

import { getAll, useSandbox } from '../support/fixture';

const fixture = useSandbox();

describe('Filters that match none', () => {
	const clusterOf = (type: unknown, phase: unknown) => ({
		metadata: { uid: `c-${String(type)}` },
		type,
		status: { phase },
	});

	/** The hints above the output of a list of these clusters, for three items. */
	async function hintsFor(clusters: object[], filters: INodeParameters) {
		fixture.answerWith('listClusters', { items: clusters, metadata: {} });
		const { items, run } = await fixture.engine.run({ parameters: getAll({ filters }) }, [{}, {}]);
		expect(items).toEqual([]);
		return run.data.resultData.runData['Node 1']?.[0]?.hints?.map(({ message }) => message);
	}

	test.each<[INodeParameters]>([[{ type: 'Virtuel' }], [{ type: 'master', phase: 'Stopped' }]])(
		'say what came instead: %j',
		async (filters) => {
			const clusters = [clusterOf('virtual', '<b>Pending</b>'), clusterOf('master', 'Running'), {}];
			expect(await hintsFor(clusters, filters)).toEqual([
				'No cluster matches the filters. Clusters found, as type (phase): master (Running), unknown (unknown), virtual (‹b›Pending‹/b›).',
			]);
		},
	);

	test('say nothing where no cluster came', async () => {
		expect(await hintsFor([], { type: 'x' })).toEqual([]);
	});

	test('show no secret that a cluster is named after', async () => {
		const { password } = fixture.sandbox;
		const hints = await hintsFor([clusterOf(password, 'Running')], { type: 'x' });
		expect(hints).toHaveLength(1);
		expect(hints?.[0]).not.toContain(password);
	});
});
