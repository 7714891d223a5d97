import { Readable } from 'node:stream';

import type { AnswerFault, HtmlFault, HugeBodyFault, RateLimitFault, RedirectFault } from './fault';

/** An answer that takes the place of the service's own. */
export interface ForcedAnswer {
	status: number;
	headers: Record<string, string>;
	body: string | Readable;
}

/** The faults that are nothing but another answer. */
export type AnsweringFault =
	| AnswerFault
	| RateLimitFault
	| RedirectFault
	| HtmlFault
	| HugeBodyFault;

/** What such a fault answers. */
export function forcedAnswer(fault: AnsweringFault): ForcedAnswer {
	switch (fault.kind) {
		case 'answer':
			return plainAnswer(fault);
		case 'rateLimit':
			return json(
				429,
				{ code: 'too_many_requests', message: 'Too many requests' },
				{
					...(fault.retryAfter !== undefined && { 'retry-after': retryAfter(fault.retryAfter) }),
				},
			);
		case 'redirect':
			return { status: fault.status ?? 302, headers: { location: fault.location }, body: '' };
		case 'html':
			return {
				status: fault.status ?? 200,
				headers: { 'content-type': 'text/html; charset=utf-8' },
				body: '<!doctype html><html><head><title>Gateway</title></head><body><h1>Gateway</h1></body></html>',
			};
		case 'hugeBody':
			return {
				status: fault.status ?? 200,
				headers: { 'content-type': 'application/json' },
				body: Readable.from(hugeJson(fault.bytes)),
			};
	}
}

function plainAnswer({ status, headers = {}, body }: AnswerFault): ForcedAnswer {
	if (body === undefined) return { status, headers, body: '' };
	if (typeof body !== 'string') return json(status, body, headers);
	return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
}

function json(status: number, body: unknown, headers: Record<string, string>): ForcedAnswer {
	return {
		status,
		headers: { 'content-type': 'application/json', ...headers },
		body: JSON.stringify(body),
	};
}

function retryAfter(value: number | Date): string {
	return typeof value === 'number' ? String(value) : value.toUTCString();
}

/** A JSON object of just so many bytes, in pieces. */
function* hugeJson(bytes: number): Generator<Buffer> {
	const start = Buffer.from('{"filler":"');
	const end = Buffer.from('"}');
	const piece = Buffer.alloc(64 * 1024, 'x');
	yield start;
	let left = bytes - start.length - end.length;
	for (; left > 0; left -= piece.length)
		yield left < piece.length ? piece.subarray(0, left) : piece;
	yield end;
}
