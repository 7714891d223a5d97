import { numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { batch } from './batch';
import { counted, creates, ONE_IN_AN_HOUR, useService } from './useService';

const service = useService();

describe('A service that takes so many a second', () => {
	test('and answers 429: no item fails, and no more requests are turned away than it takes to find out', async () => {
		await service.start({ limits: { perSecond: 40, burst: 10 } });
		const { items } = await service.engine.run(creates(), numbered(70));
		expect(counted(items)).toEqual({ made: 70, mayExist: 0, failed: 0 });
		expect(service.sandbox.store.jobs.size).toBe(70);
		expect(service.sandbox.limits.met.turnedAway).toBeLessThanOrEqual(60);
	});

	test('and says when to come back: no item fails, and nothing is sent before', async () => {
		await service.start({ limits: { perSecond: 40, burst: 40, retryAfter: 1 } });
		const { items } = await service.engine.run(creates(), numbered(80));
		expect(counted(items)).toEqual({ made: 80, mayExist: 0, failed: 0 });
		expect(service.sandbox.limits.met.tooEarly).toBe(0);
	});

	test('and answers 503: few items end without a clear answer, and none is sent twice', async () => {
		await service.start({ limits: { perSecond: 40, burst: 10, tooMany: 503 } });
		const { items } = await service.engine.run(creates(), numbered(70));
		const { made, mayExist, failed } = counted(items);
		expect(failed).toBe(0);
		expect(mayExist).toBeLessThanOrEqual(30);
		expect(service.sandbox.store.jobs.size).toBe(made);
		expect(service.sandbox.calls.filter(({ operation }) => operation === 'createJob')).toHaveLength(
			70,
		);
	});

	test('takes all calls of an agent, one after the other', async () => {
		await service.start({ limits: { perSecond: 20, burst: 2 } });
		const calls = numbered(6);
		const { answers } = await service.engine.callTool({ parameters: batch() }, calls);
		expect(answers.filter((answer) => answer.includes('"uid"'))).toHaveLength(6);
		expect(service.sandbox.store.jobs.size).toBe(6);
	});

	test('but none for a minute: the items that wait fail together, in its words', async () => {
		await service.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 5 } });
		hurry();
		const { items } = await service.engine.run(creates(), numbered(300));
		expect(counted(items)).toEqual({ made: 5, mayExist: 0, failed: 295 });
		expect(service.sandbox.limits.met.turnedAway).toBeLessThan(60);
		expect(items.at(-1)?.json).toMatchObject({
			message: 'The service is receiving too many requests',
			error: {
				httpStatus: 429,
				description: expect.stringMatching(
					/"Too many requests"[^]*All requests had been waiting for the service for \d+ s/,
				),
			},
		});
	});
});

describe('Never more than a hundred requests at once', () => {
	test('by ten executions of one account', async () => {
		await service.start({ latency: 40 });
		const runs = Array.from(
			{ length: 10 },
			async () => await service.engine.run(creates(), numbered(60)),
		);
		const items = (await Promise.all(runs)).flatMap((result) => result.items);
		expect(counted(items)).toEqual({ made: 600, mayExist: 0, failed: 0 });
		expect(service.sandbox.limits.met.most).toBeGreaterThan(10);
		expect(service.sandbox.limits.met.most).toBeLessThanOrEqual(100);
	});

	test('and no more than Concurrency says, where it is set', async () => {
		await service.start({ limits: { perSecond: 40, burst: 5 } });
		const { items } = await service.engine.run(creates({ concurrency: 3 }), numbered(40));
		expect(counted(items)).toEqual({ made: 40, mayExist: 0, failed: 0 });
		expect(service.sandbox.limits.met.most).toBeLessThanOrEqual(3);
	});
});

test('a tool that an agent calls many times at once keeps to its Concurrency', async () => {
	await service.start({ latency: 20 });
	const node = { parameters: batch({ concurrency: 2 }) };
	const { answers } = await service.engine.callTool(node, numbered(8), { atOnce: true });
	expect(answers.filter((answer) => answer.includes('"uid"'))).toHaveLength(8);
	expect(service.sandbox.limits.met.most).toBe(2);
});
