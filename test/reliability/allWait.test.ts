import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Plan } from '../../sandbox';
import { answer } from '../support/answer';
import { change, numbered } from '../support/fixture';
import { clockStandsFor, hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch, refused } from './batch';
import { counted, creates, ONE_IN_AN_HOUR, useService } from './useService';

const service = useService();

/** The service is away until so many requests have not reached it. */
async function awayFor(requests: number): Promise<void> {
	let missed = 0;
	const onRequest = () => {
		if ((missed += 1) < requests) return;
		unsubscribe('http.client.request.start', onRequest);
		void clockStandsFor(service.sandbox.comeBack());
	};
	await service.sandbox.goAway();
	subscribe('http.client.request.start', onRequest);
}

describe('While all wait', () => {
	test('a cancel ends the waiting at once', async () => {
		await service.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 3, retryAfter: 50 } });
		const execute = jest.spyOn(service.engine.loaded.node, 'execute');
		const running = service.engine.start([creates()], numbered(200));
		await until(
			() => service.sandbox.limits.met.turnedAway > 0 && service.sandbox.limits.met.underWay === 0,
		);
		running.cancel();
		await running.result;
		await expect(execute.mock.results[0]?.value).rejects.toThrow();
		expect(service.sandbox.store.jobs.size).toBe(3);
	});

	const isBetween = (first: number, last: number, n: number) => n >= first && n <= last;

	test.each<[why: string, ends: ReturnType<typeof counted>, plan: Plan]>([
		[
			'it is receiving too many',
			{ made: 12, mayExist: 0, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && isBetween(2, 3, nOfOperation)
					? { kind: 'rateLimit', retryAfter: 5 }
					: undefined,
		],
		[
			'it is unavailable',
			{ made: 3, mayExist: 9, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && isBetween(2, 10, nOfOperation) ? answer(503) : undefined,
		],
		[
			'its connections break',
			{ made: 3, mayExist: 9, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && isBetween(2, 10, nOfOperation)
					? { kind: 'break', when: 'beforeActing' }
					: undefined,
		],
		[
			'its log-in fails',
			{ made: 11, mayExist: 0, failed: 1 },
			({ operation, nOfOperation }) => {
				if (operation === 'login') return isBetween(2, 7, nOfOperation) ? answer(500) : undefined;
				return nOfOperation === 2 ? { kind: 'expireTokens' } : undefined;
			},
		],
		[
			"it can't be reached",
			{ made: 11, mayExist: 1, failed: 0 },
			({ operation, nOfOperation }) =>
				operation === 'createJob' && nOfOperation === 2
					? { kind: 'wait', when: 'beforeActing', until: awayFor(9) }
					: undefined,
		],
	])("n8n's log says so after a few seconds, and when they go on: %s", async (why, ends, plan) => {
		await service.start({});
		service.sandbox.faults.plan(plan);
		hurry();
		const execute = jest.spyOn(service.engine.loaded.node, 'execute');
		const running = service.engine.start([creates({ concurrency: 1 })], numbered(12));
		await until(() => execute.mock.calls.length === 1);
		const context = (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		const info = jest.spyOn(context.logger, 'info').mockImplementation();
		const { items } = await running.result;
		expect(counted(items)).toEqual(ends);
		const log = info.mock.calls.map(([text]) => text.replace(service.sandbox.url, 'URL'));
		expect(log).toEqual([
			`Requests to the job orchestration service at URL are waiting: ${why}`,
			expect.stringMatching(
				/^The job orchestration service at URL takes requests again, after \d+ s$/,
			),
		]);
	});

	test('a drop-down does not wait for more than some seconds, and says why there is no list', async () => {
		await service.start({ limits: { perSecond: ONE_IN_AN_HOUR, burst: 1, retryAfter: 6 } });
		await service.engine.listSearch('searchClusters');
		await expect(service.engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: 'The service is receiving too many requests',
		});
		expect(service.sandbox.limits.met.turnedAway).toBe(1);
	});

	test('jobs that are to be ended are not, where the service wants an hour: they are named', async () => {
		await service.start({});
		hurry();
		const hour = { kind: 'rateLimit', retryAfter: 3_600 } as const;
		service.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'changeJobState') return hour;
			return operation === 'createJob' && nOfOperation === 3 ? refused : undefined;
		});
		const { error } = await service.engine.run(
			{ parameters: batch({ concurrency: 1, ifStopped: 'terminate' }) },
			numbered(5),
		);
		expect(error?.description).toMatch(/could not end \(2\):/);
		expect(
			service.sandbox.calls.filter(({ operation }) => operation === 'changeJobState'),
		).toHaveLength(4);
		// Nor does whoever comes next wait for an hour.
		const next = await service.engine.run({ parameters: change('stop', { jobId: 'any' }) });
		expect(next.error?.message).toBe('The service is receiving too many requests');
	});
});
