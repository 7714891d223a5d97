import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import { byAccount } from '../../nodes/JobOrchestration/service/account/byAccount';

const account = (n: number) =>
	accountOf({ baseUrl: 'http://jobs.example.com', userName: `user ${n}`, password: 'p' });

test('with as many accounts as are remembered, each use of one leaves all the others known', () => {
	const stateOf = byAccount(() => ({}));
	const states = Array.from({ length: 100 }, (_, n) => stateOf(account(n)));
	expect(stateOf(account(50))).toBe(states[50]);
	expect(stateOf(account(0))).toBe(states[0]);
	expect(stateOf(account(99))).toBe(states[99]);
});
