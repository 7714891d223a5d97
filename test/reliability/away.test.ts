import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { create, getAll, numbered } from '../support/fixture';
import { clockStandsFor, hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch } from './batch';
import { counted, creates, useService } from './useService';

const service = useService();

test('a log-in that fails three times, and then not, fails no item', async () => {
	await service.start({});
	hurry();
	service.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation <= 3 ? answer(500) : undefined,
	);
	const { items } = await service.engine.run(creates(), numbered(50));
	expect(counted(items)).toEqual({ made: 50, mayExist: 0, failed: 0 });
	expect(service.sandbox.calls.filter(({ operation }) => operation === 'login')).toHaveLength(4);
});

describe.each<[string, Fault]>([
	['is answered with a 500', answer(500)],
	['is answered with a 408', answer(408)],
	['breaks off', { kind: 'break', when: 'beforeActing' }],
])('A log-in that %s', (_, fault) => {
	test('fails all items together, after as many tries as one item has', async () => {
		await service.start({});
		hurry();
		service.sandbox.faults.plan(({ operation }) => (operation === 'login' ? fault : undefined));
		const begunAt = performance.now();
		const { items } = await service.engine.run(creates(), numbered(100));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 100 });
		expect(service.sandbox.calls.length).toBe(4);
		expect(performance.now() - begunAt).toBeLessThan(20_000);
	});
});

describe('A service that is away', () => {
	test('in mid-batch: only what was under way has no clear answer', async () => {
		await service.start({ latency: 20 });
		const running = service.engine.start([creates()], numbered(300));
		await until(() => service.sandbox.store.jobs.size >= 60);
		await service.sandbox.goAway();
		const madeBefore = service.sandbox.store.jobs.size;
		await new Promise((resolve) => setTimeout(resolve, 150));
		await service.sandbox.comeBack();
		const { made, mayExist, failed } = counted((await running.result).items);
		expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 300 });
		expect(mayExist).toBeLessThanOrEqual(100);
		expect(made).toBeGreaterThanOrEqual(madeBefore - 100);
		const names = [...service.sandbox.store.jobs.values()].map(({ displayName }) => displayName);
		expect(new Set(names).size).toBe(names.length);
	});

	test.each([
		['as many at once as it takes', {}, 40],
		['one at once', { concurrency: 1 }, 8],
	])(
		'and cuts off whoever connects, in mid-batch: little has no clear answer, with %s',
		async (_, options, most) => {
			await service.start({ latency: 10 });
			const running = service.engine.start([creates(options)], numbered(300));
			await until(() => service.sandbox.store.jobs.size >= 20);
			service.sandbox.faults.plan(() => ({ kind: 'break', when: 'beforeActing' }));
			await new Promise((resolve) => setTimeout(resolve, 300));
			service.sandbox.faults.plan(() => undefined);
			const { made, mayExist, failed } = counted((await running.result).items);
			expect({ failed, all: made + mayExist }).toEqual({ failed: 0, all: 300 });
			expect(mayExist).toBeLessThanOrEqual(most);
		},
	);

	test('jobs that are to be ended are, once it is back', async () => {
		await service.start({});
		service.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation !== 'createJob' || nOfOperation < 3) return undefined;
			return { kind: 'wait', when: 'beforeActing', until: service.sandbox.goAway() };
		});
		hurry();
		// A service that has not answered is given up after four requests.
		let asked = 0;
		const onRequest = (message: unknown) => {
			const { path } = (message as { request: ClientRequest }).request;
			if (path.endsWith('/terminate') && (asked += 1) === 6) {
				void clockStandsFor(service.sandbox.comeBack());
			}
		};
		subscribe('http.client.request.start', onRequest);
		const { error } = await service.engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(4),
		);
		unsubscribe('http.client.request.start', onRequest);
		expect(error?.description).toMatch(/has terminated \(2\):/);
		const states = [...service.sandbox.store.jobs.values()].map(({ state }) => state);
		expect(states.slice(0, 2)).toEqual(['terminated', 'terminated']);
	});

	test('but answered an earlier node of the execution, is waited for', async () => {
		await service.start({});
		const { node } = service.engine.loaded;
		const { execute } = node;
		const runs = jest.spyOn(node as Required<typeof node>, 'execute');
		runs.mockImplementation(async function (this: IExecuteFunctions) {
			if (runs.mock.calls.length === 2) await service.sandbox.goAway();
			return (await execute?.call(this)) ?? [];
		});
		hurry();
		// A service that has not answered is given up after four requests.
		let asked = 0;
		const onRequest = (message: unknown) => {
			const { path } = (message as { request: ClientRequest }).request;
			if (path.endsWith('/jobs') && (asked += 1) === 6) {
				void clockStandsFor(service.sandbox.comeBack());
			}
		};
		subscribe('http.client.request.start', onRequest);
		const { error } = await service.engine.start(
			[{ parameters: getAll({ limit: 1 }) }, { parameters: create() }],
			[{}],
		).result;
		unsubscribe('http.client.request.start', onRequest);
		expect(error).toBeUndefined();
		expect(service.sandbox.store.jobs.size).toBe(1);
	});

	test('from the start: a thousand items fail together, not one after the other', async () => {
		await service.start({});
		await service.sandbox.goAway();
		hurry();
		const { items } = await service.engine.run(creates(), numbered(1_000));
		expect(counted(items)).toEqual({ made: 0, mayExist: 0, failed: 1_000 });
		expect(new Set(items.map(({ json }) => json.message)).size).toBe(1);
		expect(items.at(-1)?.json.message).toMatch(/can't be reached/);
	});
});
