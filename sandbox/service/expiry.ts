import type { AnsweringFault } from '../faults/fault';

/** How a service may tell that a token is unknown or has expired: the interface doesn't show it. */
export const expiries = [
	'401',
	'403',
	'419',
	'440',
	'498',
	'redirect',
	'page',
	'invalid-token',
	'jwt-expired',
] as const;

export type Expiry = (typeof expiries)[number];

/** The answer to a call whose token has expired. */
export function answerToExpired(expiry: Expiry): AnsweringFault {
	const when = 'beforeActing';
	switch (expiry) {
		case 'redirect':
			return { kind: 'redirect', location: '/login' };
		case 'page': {
			const headers = { 'content-type': 'text/html; charset=utf-8' };
			const body = '<!doctype html><html><head><title>Log in</title></head></html>';
			return { kind: 'answer', when, status: 200, headers, body };
		}
		case 'invalid-token':
			return { kind: 'answer', when, status: 400, body: { error: 'invalid_token' } };
		case 'jwt-expired':
			return { kind: 'answer', when, status: 500, body: { message: 'JWT expired' } };
		default: {
			const body = { code: 'expired', message: 'The session is over' };
			return { kind: 'answer', when, status: Number(expiry), body };
		}
	}
}
