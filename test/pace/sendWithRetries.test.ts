import type { CallError } from '../../nodes/JobOrchestration/service/calls/callError';
import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { sessionOf } from '../../nodes/JobOrchestration/service/session/sessions';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import {
	ExecutionLimiter,
	LimitedRequest,
} from '../../nodes/JobOrchestration/service/pace/limiter';
import type { SendResult } from '../../nodes/JobOrchestration/service/http';
import { anyCall, newSender } from '../support/sender';
import { statusFailure } from '../reliability/statusFailure';

const answered = (status: number) => ({ failure: statusFailure(status) });

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

test('rejections are no retries, and the first retry after them waits as long as any', async () => {
	const results = [answered(429), answered(429), answered(429), answered(502), { body: 'done' }];
	const sender = newSender(() => results.shift() ?? { body: 'none' });
	jest.spyOn(Math, 'random').mockReturnValue(1);
	const waits = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
		const timer = new AbortController();
		setImmediate(() => timer.abort());
		return timer.signal;
	});
	const options = { maxRetries: 1, timeout: 1_000 };
	expect(await sendWithRetries(sender, anyCall, options)).toBe('done');
	expect(waits.mock.calls).toEqual([[300]]);
	jest.restoreAllMocks();
});

test('a request that is given up says how long all waited, and how often the service was asked', async () => {
	const sender = newSender(() => answered(429));
	const options = { maxRetries: 0, timeout: 1_000 };
	const error: unknown = await sendWithRetries(sender, anyCall, options).catch(
		(thrown: unknown) => thrown,
	);
	expect(error).toMatchObject({ jobMayExist: false });
	expect((error as CallError).description).toMatch(
		/how many requests it accepts\. All requests had been waiting for the service for 7\d s, and asked it \d\d times\. It was tried \d\d times\.\n/,
	);
});

test('nothing is sent where the log-in was refused before', async () => {
	const send = jest.fn();
	const refused = { kind: 'login', cause: statusFailure(401) } as const;
	const sender = { ...newSender(send), refusedLoginFor: () => refused };
	await expect(sendWithRetries(sender, anyCall, { maxRetries: 3, timeout: 1_000 })).rejects.toThrow(
		'The user name or the password is wrong',
	);
	expect(send).not.toHaveBeenCalled();
});

describe('The limiters of a process', () => {
	const limiterFor = (userName: string, baseUrl = 'http://jobs.test') =>
		sessionOf({ baseUrl, userName, password: 'secret' }).limiter;

	test('are one for each account, however its address is written', () => {
		expect(limiterFor('a')).toBe(limiterFor('a', 'HTTP://Jobs.test:80/'));
		expect(limiterFor('a')).not.toBe(limiterFor('b'));
		expect(limiterFor('a')).not.toBe(limiterFor('a', 'http://jobs.test/below'));
	});

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
		request.release({ kind: 'answered' });
	});
});
