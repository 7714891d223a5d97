import type { AnsweringFault } from '../faults/fault';

const when = 'beforeActing';

function sessionIsOver(status: number): AnsweringFault {
	return {
		kind: 'answer',
		when,
		status,
		body: { code: 'expired', message: 'The session is over' },
	};
}

/** The responses, other than a 401, to a call whose token has expired or is unknown. */
export const answersToExpired = {
	'403': sessionIsOver(403),
	'419': sessionIsOver(419),
	'440': sessionIsOver(440),
	'498': sessionIsOver(498),
	redirect: { kind: 'redirect', location: '/login' },
	page: {
		kind: 'answer',
		when,
		status: 200,
		headers: { 'content-type': 'text/html; charset=utf-8' },
		body: '<!doctype html><html><head><title>Log in</title></head></html>',
	},
	'invalid-token': { kind: 'answer', when, status: 400, body: { error: 'invalid_token' } },
	'jwt-expired': { kind: 'answer', when, status: 500, body: { message: 'JWT expired' } },
} satisfies Record<string, AnsweringFault>;

/**
 * The ways in which a service may respond to a token that has expired or is unknown. The interface doesn't say which of
 * them the service uses.
 */
export type Expiry = '401' | keyof typeof answersToExpired;

export const expiries = ['401', ...Object.keys(answersToExpired)] as Expiry[];
