import type { Call } from '../../nodes/JobOrchestration/service/calls/call';
import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { Connection } from '../../nodes/JobOrchestration/service/request/connection';
import { statusFailure } from '../faults/statusFailure';

test('a request that n8n can not even begin leaves its place to the others', async () => {
	const limiter = new AccountLimiter().forExecution({ concurrency: 1 });
	const unreadable = new Error('The credential could not be read');
	const answers = [async () => await Promise.reject(unreadable), async () => ({ body: 'done' })];
	const connection = {
		limiter,
		refusalFor: () => undefined,
		send: async () => await answers.shift()?.(),
	} as unknown as Connection;
	const call = { request: { method: 'POST' }, idempotent: false } as unknown as Call<string>;
	const options = { maxRetries: 0, timeout: 1_000 };

	await expect(sendWithRetries(connection, call, options)).rejects.toBe(unreadable);
	expect(await sendWithRetries(connection, call, options)).toBe('done');
});

test('what waited for the pace waits after its own first failure as long as any', async () => {
	const answered = (status: number) => ({ failure: statusFailure(status) });
	const results = [answered(429), answered(429), answered(429), answered(502), { body: 'done' }];
	const permit = { isProbe: false, sent: () => {}, release: () => {} };
	const connection = {
		limiter: { acquire: async () => await Promise.resolve(permit), hasBeenAnswered: true },
		refusalFor: () => undefined,
		send: async () => await Promise.resolve(results.shift()),
	} as unknown as Connection;
	const call = { request: { method: 'GET' }, idempotent: true } as unknown as Call<string>;
	jest.spyOn(Math, 'random').mockReturnValue(1);
	const waits = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
		const timer = new AbortController();
		setImmediate(() => timer.abort());
		return timer.signal;
	});

	const options = { maxRetries: 1, timeout: 1_000 };
	expect(await sendWithRetries(connection, call, options)).toBe('done');
	expect(waits.mock.calls).toEqual([[300]]);
	jest.restoreAllMocks();
});
