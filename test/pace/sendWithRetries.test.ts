import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { sessionOf } from '../../nodes/JobOrchestration/service/session/sessions';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import {
	ExecutionLimiter,
	LimitedRequest,
} from '../../nodes/JobOrchestration/service/pace/limiter';
import type { SendResult } from '../../nodes/JobOrchestration/service/http';
import { anyCall, newSender } from '../support/sender';

test('a request that n8n can not even begin leaves its place to the others', async () => {
	const limiter = new ExecutionLimiter(new AccountLimiter(), { concurrency: 1 });
	const unreadable = new Error('The credential could not be read');
	const answers = [
		async () => await Promise.reject<SendResult<string>>(unreadable),
		async () => await Promise.resolve({ body: 'done' }),
	];
	const sender = newSender(async () => (await answers.shift()?.()) ?? { body: 'none' }, {
		limiter,
	});
	const options = { maxRetries: 0, timeout: 1_000 };

	await expect(sendWithRetries(sender, anyCall, options)).rejects.toBe(unreadable);
	expect(await sendWithRetries(sender, anyCall, options)).toBe('done');
});

describe('The limiters of a process', () => {
	const limiterFor = (userName: string) =>
		sessionOf({ baseUrl: 'http://jobs.test', userName, password: 'secret' }).limiter;

	test('are forgotten once there are more than a hundred, unless they are in use', async () => {
		const [kept, forgotten, busy] = [
			limiterFor('kept'),
			limiterFor('forgotten'),
			limiterFor('busy'),
		];
		const request = new LimitedRequest(new ExecutionLimiter(busy));
		await request.acquire();
		for (let n = 0; n < 150; n += 1) {
			limiterFor(`another ${n}`);
			limiterFor('kept');
		}
		expect(limiterFor('kept')).toBe(kept);
		expect(limiterFor('busy')).toBe(busy);
		expect(limiterFor('forgotten')).not.toBe(forgotten);
		request.release();
	});
});
