import type { Failure } from '../../nodes/JobOrchestration/service/request/failure';
import { outcomeOf } from '../../nodes/JobOrchestration/service/pace/outcome';
import { statusFailure as status } from '../reliability/statusFailure';

const broken = { kind: 'broken', code: 'ECONNRESET' } as const;

test('a connection that breaks is about all requests; one of a log-in can be tried at no risk', () => {
	expect(outcomeOf(broken)).toEqual({ kind: 'broken' });
	expect(outcomeOf({ kind: 'login', cause: broken })).toEqual({ kind: 'loginFailed' });
});

test.each<[number, string]>([
	[400, 'answered'],
	[408, 'answered'],
	[429, 'throttled'],
	[500, 'answered'],
	[501, 'answered'],
	[502, 'unavailable'],
	[503, 'unavailable'],
	[504, 'unavailable'],
	[505, 'answered'],
])('an HTTP status of %i is one of a service that has "%s"', (code, kind) => {
	expect(outcomeOf(status(code))).toEqual({ kind });
});

test('a log-in that would fail again has sent nothing, one that may succeed is as any request', () => {
	expect(outcomeOf({ kind: 'login', cause: status(401) })).toEqual({ kind: 'unknown' });
	expect(outcomeOf({ kind: 'login', cause: status(503) })).toEqual({ kind: 'unavailable' });
	expect(outcomeOf({ kind: 'login', cause: status(500) })).toEqual({ kind: 'loginFailed' });
	expect(outcomeOf(status(401))).toEqual({ kind: 'answered' });
});

test('a 503 that says when to come back is one of too many', () => {
	expect(outcomeOf(status(503, 2_000))).toEqual({ kind: 'throttled', retryAfter: 2_000 });
});

test.each<[Failure, string]>([
	[{ kind: 'unexpectedResponse', status: 200, received: 'nothing', expected: 'a job' }, 'answered'],
	[{ kind: 'redirect', status: 302, location: undefined }, 'answered'],
	[{ kind: 'unreachable', code: 'ECONNREFUSED' }, 'unreachable'],
	[{ kind: 'timeout' }, 'timedOut'],
	[{ kind: 'n8nFailed', reason: 'database is locked' }, 'unknown'],
	[{ kind: 'blocked', reason: 'restricted' }, 'unknown'],
	[{ kind: 'cancelled', sent: true }, 'unknown'],
	[{ kind: 'certificate', code: 'CERT_HAS_EXPIRED' }, 'unknown'],
])('what comes of %j is "%s"', (failure, kind) => {
	expect(outcomeOf(failure)).toEqual({ kind });
});
