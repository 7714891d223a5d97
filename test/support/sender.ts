import type { Call } from '../../nodes/JobOrchestration/service/calls/callError';
import { AccountLimiter, RunLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { Result } from '../../nodes/JobOrchestration/service/errors/response';
import type { HttpClient } from '../../nodes/JobOrchestration/service/http';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';

/** A call that may be repeated, and takes any text for an answer. */
export const anyCall: Call<string> = {
	operationId: 'changeJobState',
	method: 'PUT',
	path: '/',
	expected: 'a text',
	isExpected: (body): body is string => typeof body === 'string',
	idempotent: true,
	wordsOf: () => ({ action: 'do it', request: 'it', byStatus: {} }),
};

/** What a call is made with, where it is known what comes of each request, and nothing need be sent. */
export function newSender(
	resultOf: (request: ServiceRequest<unknown>) => Result<unknown> | Promise<Result<unknown>>,
	{
		baseUrl = 'https://jobs.example.com',
		limiter = newLimiter(),
		ask = async () => await Promise.resolve({ body: '' }),
	}: Partial<Pick<HttpClient, 'baseUrl' | 'limiter' | 'ask'>> = {},
): HttpClient {
	const send = async (request: ServiceRequest<unknown>) => await resultOf(request);
	const client: Pick<HttpClient, keyof HttpClient> = {
		baseUrl,
		limiter,
		ask,
		account: `user "demo" at ${baseUrl}`,
		startAgain: () => {},
		redact: (text) => text,
		send: send as HttpClient['send'],
	};
	return client as HttpClient;
}

/** One whose waits take no time. */
function newLimiter(): RunLimiter {
	let now = 0;
	const wait = async (milliseconds: number) => await Promise.resolve(void (now += milliseconds));
	const clock = { now: () => now, idle: () => now, wait, pause: async () => await wait(1) };
	return new RunLimiter(new AccountLimiter(clock));
}
