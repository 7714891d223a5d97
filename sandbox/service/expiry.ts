import type { AnsweringFault } from '../faults/fault';

function answer(status: number, body: unknown, headers = {}): AnsweringFault {
	return { kind: 'answer', when: 'beforeActing', status, body, headers };
}

const isOver = { code: 'expired', message: 'The session is over' };
const page = '<!doctype html><html><head><title>Log in</title></head></html>';

/** The responses, other than a 401, to a call whose token has expired or is unknown. */
export const answersToExpired = {
	'403': answer(403, isOver),
	'419': answer(419, isOver),
	'440': answer(440, isOver),
	'498': answer(498, isOver),
	redirect: { kind: 'redirect', location: '/login' },
	page: answer(200, page, { 'content-type': 'text/html; charset=utf-8' }),
	'invalid-token': answer(400, { error: 'invalid_token' }),
	'jwt-expired': answer(500, { message: 'JWT expired' }),
} satisfies Record<string, AnsweringFault>;

/**
 * The ways in which a service may respond to a token that has expired or is unknown. The interface doesn't say which of
 * them the service uses.
 */
export type Expiry = '401' | keyof typeof answersToExpired;
