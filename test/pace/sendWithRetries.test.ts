import type { CallError } from '../../nodes/JobOrchestration/service/calls/callError';
import { sendWithRetries } from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { SendResult } from '../../nodes/JobOrchestration/service/calls/httpClient';
import { anyCall, newSender } from '../engine/sender';
import { statusFailure } from '../faults/statusFailure';

test('a request that n8n can not even begin leaves its place to the others', async () => {
	const limiter = new AccountLimiter().forExecution({ concurrency: 1 });
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

test('what waited for the pace waits after its own first failure as long as any', async () => {
	const answered = (status: number) => ({ failure: statusFailure(status) });
	const results = [answered(429), answered(429), answered(429), answered(502), { body: 'done' }];
	const permit = {
		isProbe: false,
		isLateProbe: false,
		sent: () => {},
		countFailedLogin: () => 1,
		release: () => {},
	};
	const sender = newSender(() => results.shift() ?? { body: 'none' }, {
		limiter: {
			acquire: async () => await Promise.resolve(permit),
			giveUp: () => {},
			hasBeenAnswered: true,
		},
	});
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

test.each([
	[{ waited: 999, probes: 9 }, ''],
	[{ waited: 1_000, probes: 0 }, ' All requests had been waiting for the service for 1 s.'],
	[
		{ waited: 61_000, probes: 1 },
		' All requests had been waiting for the service for 61 s, and asked it once.',
	],
	[
		{ waited: 61_400, probes: 2 },
		' All requests had been waiting for the service for 61 s, and asked it 2 times.',
	],
])(
	'one that is given up says how long it waited, and how often the service was asked: %j',
	async (given, says) => {
		const sender = newSender(() => ({ body: 'none' }), {
			limiter: {
				acquire: async () =>
					await Promise.resolve({ denied: 'givenUp', failure: statusFailure(429), ...given }),
				giveUp: () => {},
				hasBeenAnswered: true,
			},
		});
		const options = { maxRetries: 0, timeout: 1_000 };
		const error: unknown = await sendWithRetries(sender, anyCall, options).catch(
			(thrown: unknown) => thrown,
		);
		expect(error).toMatchObject({ jobMayExist: false });
		const { description } = error as CallError;
		expect(description).toContain(
			`ask whoever runs the service how many requests it accepts.${says}\n`,
		);
	},
);

test('nothing is sent where the log-in was refused before', async () => {
	const send = jest.fn();
	const refused = { kind: 'login', cause: statusFailure(401) } as const;
	const sender = { ...newSender(send), refusedLoginFor: () => refused };
	await expect(sendWithRetries(sender, anyCall, { maxRetries: 3, timeout: 1_000 })).rejects.toThrow(
		'The user name or the password is wrong',
	);
	expect(send).not.toHaveBeenCalled();
});
