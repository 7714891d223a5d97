import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { takesTenAtOnce } from './tenAtOnce';
import { counted, creates, useService } from './useService';

/*
 * A webhook, a chat or a sub-workflow per row: executions with one item each, which are a batch like any other.
 */

const service = useService();

/** A job per execution, all at once. */
async function runEach(count: number, options = {}) {
	const runs = numbered(count).map(
		async (item) => await service.engine.run(creates(options), [item]),
	);
	return counted((await Promise.all(runs)).flatMap(({ items }) => items));
}

test.each([{}, { concurrency: 5 }])(
	'eighty at once have ten requests in flight at first, with %j',
	async (options) => {
		await service.start({ latency: 300 });
		expect(await runEach(80, options)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(service.sandbox.limits.met.most).toBeLessThanOrEqual(40);
		const [first] = service.callsOf('createJob');
		const atFirst = service.callsOf('createJob').filter(({ at }) => at < Number(first?.at) + 200);
		expect(atFirst.length).toBeLessThanOrEqual(10);
	},
);

test.each<[string, Fault]>([
	['a bare 503', answer(503)],
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
])(
	'where the service takes ten at once, and the others get %s, few are uncertain',
	async (_, fault) => {
		await service.start({});
		service.sandbox.faults.plan(takesTenAtOnce(150, fault));
		const waves = [await runEach(80), await runEach(80), await runEach(80)];
		expect(waves.map(({ failed }) => failed)).toEqual([0, 0, 0]);
		const [first = Infinity, ...others] = waves.map(({ mayExist }) => mayExist);
		// Five where the machine is idle; on a busy one, more start before the first failure is read.
		expect(first).toBeLessThanOrEqual(8);
		expect(Math.max(...others)).toBeLessThanOrEqual(2);
		expect(service.sandbox.store.jobs.size).toBe(waves.reduce((sum, { made }) => sum + made, 0));
	},
);

describe.each([
	[
		'one execution',
		120,
		async () => counted((await service.engine.run(creates({ timeout: 500 }), numbered(120))).items),
	],
	['an execution for each item', 80, async () => await runEach(80, { timeout: 500 })],
])('Where a service falls silent, in %s', (_, count, run) => {
	test('few jobs are uncertain, and the rest was certainly not created', async () => {
		await service.start({});
		const { orRunOut } = hurry();
		service.sandbox.faults.plan(() =>
			service.sandbox.store.jobs.size < 20
				? undefined
				: orRunOut({ kind: 'stall', when: 'beforeActing' }),
		);
		const { made, mayExist, failed } = await run();
		expect({ made, all: made + mayExist + failed }).toEqual({ made: 20, all: count });
		expect(mayExist).toBeLessThanOrEqual(16);
		expect(service.callsOf('createJob').length).toBeLessThanOrEqual(made + mayExist);
	});

	test('and answers again, all others are created, none of them twice', async () => {
		await service.start({});
		const { orRunOut } = hurry();
		let silent = 0;
		service.sandbox.faults.plan(({ operation }) => {
			if (service.sandbox.store.jobs.size < 20 || silent === 20) return undefined;
			silent = operation === 'listClusters' ? silent + 4 : silent;
			return orRunOut({ kind: 'stall', when: 'beforeActing' });
		});
		const { made, mayExist, failed } = await run();
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: count });
		expect(mayExist).toBeLessThanOrEqual(16);
		const names = [...service.sandbox.store.jobs.values()].map(({ displayName }) => displayName);
		expect(new Set(names).size).toBe(made);
	});
});

describe.each<[string, Fault]>([
	['a bare 503', answer(503)],
	['a 500', answer(500, { message: 'Out of order' })],
	['a 520', answer(520)],
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
])('Where creates always get %s, and lists are fine', (_, fault) => {
	test.each([
		[
			'one execution',
			async () => counted((await service.engine.run(creates(), numbered(300))).items),
		],
		['an execution for each item', async () => await runEach(80)],
	])('no more than a dozen jobs are uncertain, in %s', async (_name, run) => {
		await service.start({});
		hurry();
		service.sandbox.faults.plan(({ operation }) => (operation === 'createJob' ? fault : undefined));
		const { mayExist, made } = await run();
		expect(made).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(12);
		const { error } = await service.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
	});
});
