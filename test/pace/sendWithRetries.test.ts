import type { Call } from '../../nodes/JobOrchestration/service/calls/call';
import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { Connection } from '../../nodes/JobOrchestration/service/request/connection';

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
