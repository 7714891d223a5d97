import type { FastifyReply } from 'fastify';

import type { Tokens } from '../service/tokens';
import { whenOf, type AnsweringFault, type Fault, type When } from './fault';

/** Returns a promise that is never settled. A hook that awaits it sends no response. */
const never = async (): Promise<never> => await new Promise(() => {});

/**
 * Carries out the faults of a call that strike at the given point.
 * @param body the body of the response, if a response is about to be sent
 * @returns the response to send instead, or undefined if the call continues. The promise is never settled if no
 * response may be sent.
 */
export async function strike(
	faults: readonly Fault[],
	when: When,
	{ reply, tokens, body }: { reply: FastifyReply; tokens: Tokens; body?: unknown },
) {
	for (const fault of faults) {
		if (whenOf(fault) !== when) continue;
		switch (fault.kind) {
			case 'wait':
				await Promise.allSettled([fault.until]);
				break;
			case 'expireTokens':
				tokens.expireAll();
				break;
			case 'break':
				reply.raw.destroy();
				return await never();
			case 'stall':
				return await never();
			case 'drip':
				drip(reply);
				return await never();
			case 'halfBody':
				sendHalf(reply, typeof body === 'string' && body !== '' ? body : '{"code":"half"}');
				return await never();
			default:
				return forcedAnswer(fault);
		}
	}
	return undefined;
}

/** Returns the status, the headers and the serialized body with which a fault replaces the response of the service. */
function forcedAnswer(fault: AnsweringFault) {
	switch (fault.kind) {
		case 'answer': {
			const { status, headers = {}, body } = fault;
			if (body === undefined) return { status, headers, body: '' };
			if (typeof body !== 'string') return json(status, JSON.stringify(body), headers);
			return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
		}
		case 'rateLimit': {
			const { retryAfter } = fault;
			const after = retryAfter instanceof Date ? retryAfter.toUTCString() : retryAfter;
			const headers = after === undefined ? {} : { 'retry-after': String(after) };
			return json(429, '{"code":"too_many_requests","message":"Too many requests"}', headers);
		}
		case 'redirect':
			return { status: fault.status ?? 302, headers: { location: fault.location }, body: '' };
		case 'html':
			return {
				status: fault.status ?? 200,
				headers: { 'content-type': 'text/html; charset=utf-8' },
				body: '<!doctype html><html><head><title>Gateway</title></head><body><h1>Gateway</h1></body></html>',
			};
		case 'hugeBody':
			return json(fault.status ?? 200, JSON.stringify({ filler: 'x'.repeat(fault.bytes - 13) }));
	}
}

function json(status: number, body: string, headers = {}) {
	return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** Sends the headers, and then spaces until the connection is closed: JSON may begin with any number of spaces. */
function drip({ raw }: FastifyReply): void {
	raw.writeHead(200, { 'content-type': 'application/json' });
	const drops = setInterval(() => raw.write(' '), 50).unref();
	raw.once('close', () => clearInterval(drops));
}

/** Sends the headers for the whole body, sends the first half of the body, and then closes the connection. */
function sendHalf({ raw, statusCode }: FastifyReply, body: string): void {
	const bytes = Buffer.from(body);
	raw.writeHead(statusCode, {
		'content-type': 'application/json',
		'content-length': bytes.length,
	});
	raw.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => raw.destroy());
}
