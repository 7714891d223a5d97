import { outcomeOf } from '../../nodes/JobOrchestration/service/pace/outcome';

const broken = { kind: 'broken', code: 'ECONNRESET' } as const;

test('a connection that breaks is about all requests; one of a log-in, which is shared anyway, is not', () => {
	expect(outcomeOf(broken)).toEqual({ kind: 'broken' });
	expect(outcomeOf({ kind: 'login', cause: broken })).toEqual({ kind: 'unknown' });
});
