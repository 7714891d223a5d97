import type { FastifyReply, FastifyRequest } from 'fastify';

import { forcedAnswer } from '../faults/answers';
import { whenOf, type Fault } from '../faults/fault';
import type { Tokens } from '../service/tokens';

/** A promise that is never kept: where it is awaited, no answer is sent. */
const never = async (): Promise<never> => await new Promise(() => {});

/**
 * Lets a call meet the faults that strike before it takes effect.
 * @returns true when the call is dealt with, and must not take effect
 */
export async function strikeBefore(
	faults: readonly Fault[],
	tokens: Tokens,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<boolean> {
	for (const fault of faults) {
		if (whenOf(fault) !== 'beforeActing') continue;
		switch (fault.kind) {
			case 'wait':
				await Promise.allSettled([fault.until]);
				break;
			case 'expireTokens':
				tokens.expireAll();
				break;
			case 'break':
				reply.hijack();
				request.raw.socket.destroy();
				return true;
			case 'stall':
				reply.hijack();
				return true;
			case 'drip':
				reply.hijack();
				drip(reply);
				return true;
			case 'halfBody':
				reply.hijack();
				sendHalf(reply, '{"code":"half","message":"the rest of this is never sent"}');
				return true;
			default: {
				const { status, headers, body } = forcedAnswer(fault);
				await reply.code(status).headers(headers).send(body);
				return true;
			}
		}
	}
	return false;
}

/**
 * Lets a call meet the faults that strike after it took effect, when its answer is about to be sent.
 * @param payload the answer's body
 * @returns the body to send in its place
 */
export async function strikeAfter(
	faults: readonly Fault[],
	request: FastifyRequest,
	reply: FastifyReply,
	payload: unknown,
): Promise<unknown> {
	// Where the client has gone, or part of an answer has, there is nothing left to strike.
	if (reply.raw.headersSent || request.raw.socket.destroyed) return payload;
	let body = payload;
	for (const fault of faults) {
		if (whenOf(fault) !== 'afterActing') continue;
		switch (fault.kind) {
			case 'wait':
				await Promise.allSettled([fault.until]);
				break;
			case 'break':
				request.raw.socket.destroy();
				return await never();
			case 'stall':
				return await never();
			case 'drip':
				drip(reply);
				return await never();
			case 'halfBody':
				sendHalf(reply, typeof body === 'string' && body !== '' ? body : '{"code":"half"}');
				return await never();
			case 'expireTokens':
			case 'rateLimit':
			case 'redirect':
				break;
			default: {
				const answer = forcedAnswer(fault);
				for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
				reply.code(answer.status).headers(answer.headers);
				({ body } = answer);
			}
		}
	}
	return body;
}

/** Sends a head, and then a space every now and then until the client goes: JSON may begin with any number. */
function drip({ raw }: FastifyReply): void {
	raw.writeHead(200, { 'content-type': 'application/json' });
	const drops = setInterval(() => raw.write(' '), 50).unref();
	raw.once('close', () => clearInterval(drops));
}

/** Sends the head for the whole of a body and the first half of it, and then breaks the connection. */
function sendHalf(reply: FastifyReply, body: string): void {
	const bytes = Buffer.from(body);
	const { raw } = reply;
	raw.writeHead(reply.statusCode, {
		'content-type': 'application/json',
		'content-length': bytes.length,
	});
	raw.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => raw.destroy());
}
