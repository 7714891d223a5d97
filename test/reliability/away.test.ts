import type { IExecuteFunctions } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { create, getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { awayUntil, counted, creates, useService } from './useService';

const service = useService();

test('a login that fails three times, and then not, fails no item', async () => {
	await service.start({});
	hurry();
	service.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation <= 3 ? answer(504) : undefined,
	);
	const { items } = await service.engine.run(creates(), numbered(50));
	expect(counted(items)).toEqual({ made: 50, mayExist: 0, failed: 0 });
	expect(service.callsOf('login')).toHaveLength(4);
});

test.each<[string, Fault, number]>([
	['is answered with a 500', answer(500), 1],
	['breaks off', { kind: 'break', when: 'beforeActing' }, 4],
])('a login that %s fails all items together', async (_, fault, times) => {
	await service.start({});
	hurry();
	service.sandbox.faults.plan(({ operation }) => (operation === 'login' ? fault : undefined));
	const { items } = await service.engine.run(creates(), numbered(100));
	expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 100 });
	expect(service.sandbox.calls).toHaveLength(times);
});

test.each([
	['is away', {}, 100],
	['cuts off all that connect', {}, 40],
	['cuts off all that connect', { concurrency: 1 }, 8],
])(
	'where a service %s in mid-batch, little has no clear answer, with %j',
	async (how, options, most) => {
		await service.start({ latency: 10 });
		const running = service.engine.start([creates(options)], numbered(300));
		await until(() => service.sandbox.store.jobs.size >= 20);
		if (how === 'is away') await service.sandbox.goAway();
		else service.sandbox.faults.plan(() => ({ kind: 'break', when: 'beforeActing' }));
		await new Promise((resolve) => setTimeout(resolve, 300));
		service.sandbox.faults.clear();
		await service.sandbox.comeBack();
		const { made, mayExist, failed } = counted((await running.result).items);
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 300 });
		expect(mayExist).toBeLessThanOrEqual(most);
		const names = [...service.sandbox.store.jobs.values()].map(({ displayName }) => displayName);
		expect(new Set(names).size).toBe(names.length);
	},
);

test('a service that is away, but answered an earlier node of the execution, is waited for', async () => {
	await service.start({});
	const { node } = service.engine.loaded;
	const { execute } = node;
	const runs = jest.spyOn(node as Required<typeof node>, 'execute');
	runs.mockImplementation(async function (this: IExecuteFunctions) {
		// One that has not answered is given up after four requests.
		if (runs.mock.calls.length === 2) await awayUntil(service, '/jobs', 6);
		return (await execute?.call(this)) ?? [];
	});
	hurry();
	const { error } = await service.engine.start(
		[{ parameters: getAll({ limit: 1 }) }, { parameters: create() }],
		[{}],
	).result;
	expect(error).toBeUndefined();
	expect(service.sandbox.store.jobs.size).toBe(1);
});

test('where a service is away from the start, a thousand items fail together', async () => {
	await service.start({});
	await service.sandbox.goAway();
	hurry();
	const { items } = await service.engine.run(creates(), numbered(1_000));
	expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 1_000 });
	expect(new Set(items.map(({ json }) => json.message)).size).toBe(1);
	expect(items.at(-1)?.json.message).toMatch(/can't be reached/);
});
