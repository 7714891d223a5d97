import { answer } from '../support/answer';
import { numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch, itemOf, refused } from './batch';
import { counted, creates, useService } from './useService';

const service = useService();

describe('Items that are always turned away do not keep the others from being sent', () => {
	test.each([
		[1, 80, {}, 1],
		[1, 80, {}, 33],
		[1, 80, {}, 60],
		[1, 80, {}, 3_600],
		[12, 100, {}, undefined],
		[1, 5, { concurrency: 1 }, undefined],
		[1, 5, { concurrency: 1 }, 33],
		[3, 10, { concurrency: 3 }, undefined],
		[10, 30, { concurrency: 10 }, 1],
	])('%i of %i, with %j and a Retry-After of %s', async (away, all, options, retryAfter) => {
		await service.start({});
		service.sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) < away
				? { kind: 'rateLimit', ...(retryAfter !== undefined && { retryAfter }) }
				: undefined,
		);
		hurry();
		const { items } = await service.engine.run(creates(options), numbered(all));
		expect(counted(items)).toEqual({ made: all - away, mayExist: 0, failed: away });
		expect(items[0]?.json.message).toBe('The service is receiving too many requests');
	});

	test('a date is counted from the clock of the service, not from ours', async () => {
		await service.start({});
		const inFiveMinutes = Date.now() + 300_000;
		const headers = {
			date: new Date(inFiveMinutes).toUTCString(),
			'retry-after': new Date(inFiveMinutes + 1_000).toUTCString(),
		};
		service.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 1 ? answer(429, undefined, headers) : undefined,
		);
		const begunAt = performance.now();
		const { items } = await service.engine.run(creates(), numbered(3));
		expect(counted(items)).toEqual({ made: 3, mayExist: 0, failed: 0 });
		expect(performance.now() - begunAt).toBeLessThan(15_000);
	});

	test('nor those of another execution', async () => {
		await service.start({});
		service.sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) === 1_000
				? { kind: 'rateLimit', retryAfter: 60 }
				: undefined,
		);
		hurry();
		const away = service.engine.run(creates(), [{ n: 1_000 }]);
		await until(() => service.sandbox.calls.some(({ operation }) => operation === 'createJob'));
		const { items } = await service.engine.run(creates(), numbered(40));
		expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
		expect(counted((await away).items)).toEqual({ made: 0, mayExist: 0, failed: 1 });
	});

	test('nor jobs from being ended', async () => {
		await service.start({});
		service.sandbox.faults.plan((call) => {
			if (call.operation === 'createJob') return itemOf(call) === 3 ? refused : undefined;
			const [first] = service.sandbox.store.jobs.keys();
			return call.path.includes(`/${first}/`) ? { kind: 'rateLimit' } : undefined;
		});
		hurry();
		const { error } = await service.engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(4),
		);
		expect(error?.description).toMatch(/could not end \(1\):/);
		const states = [...service.sandbox.store.jobs.values()].map(({ state }) => state);
		expect(states).toEqual(['running', 'terminated', 'terminated']);
	});
});

test('with Concurrency 1, those that are turned away once keep their order', async () => {
	await service.start({});
	service.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && [2, 5, 9].includes(nOfOperation)
			? { kind: 'rateLimit' }
			: undefined,
	);
	hurry();
	await service.engine.run(creates({ concurrency: 1 }), numbered(10));
	const names = [...service.sandbox.store.jobs.values()].map(({ displayName }) => displayName);
	expect(names).toEqual(numbered(10).map(({ n }) => `Job ${String(n)}`));
});

test("an item's error has the service's words about it, and not those about another", async () => {
	await service.start({});
	service.sandbox.faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		return answer(429, { message: `Too many, ${itemOf(call)}` });
	});
	hurry();
	const runs = [
		service.engine.run(creates({ concurrency: 1 }), numbered(1)),
		service.engine.run(creates(), [{ n: 7 }, { n: 8 }]),
	];
	const said = (await Promise.all(runs)).map(({ items }) =>
		items.map(({ json }) => {
			const { description } = Object(json.error) as { description: string };
			return /The service [^.]*(?=\.)/.exec(description)?.[0];
		}),
	);
	expect(said).toEqual([
		['The service says: "Too many, 0" (HTTP 429)'],
		['The service says: "Too many, 7" (HTTP 429)', 'The service says: "Too many, 8" (HTTP 429)'],
	]);
});

test.each([59, 60])(
	'a service that takes nothing for %i seconds, and does not say for how long, is waited for',
	async (seconds) => {
		await service.start({});
		hurry();
		const begunAt = performance.now();
		service.sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' && performance.now() - begunAt < seconds * 1_000
				? { kind: 'rateLimit' }
				: undefined,
		);
		const { items } = await service.engine.run(creates(), numbered(20));
		expect(counted(items)).toEqual({ made: 20, mayExist: 0, failed: 0 });
	},
);

test('where the service wants an hour, it is asked again after a minute', async () => {
	await service.start({});
	service.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation === 13
			? { kind: 'rateLimit', retryAfter: 3_600 }
			: undefined,
	);
	hurry();
	const { items } = await service.engine.run(creates(), numbered(40));
	expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
});

test('an error that was waited for says for how long, and how often the service was asked', async () => {
	await service.start({});
	hurry();
	service.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation !== 'createJob' || nOfOperation === 1) return undefined;
		return { kind: 'rateLimit', retryAfter: nOfOperation === 2 ? 1 : 3_600 };
	});
	const { items } = await service.engine.run(creates({ concurrency: 1 }), numbered(5));
	expect(counted(items)).toEqual({ made: 1, mayExist: 0, failed: 4 });
	for (const { json } of items.slice(1)) {
		expect(Object(json.error).description).toMatch(
			/All requests had been waiting for the service for \d+ s, and asked it \d+ times\./,
		);
	}
});
