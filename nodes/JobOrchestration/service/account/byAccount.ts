import type { Account } from './account';

/** Accounts of which something is remembered at most. */
const MAX_ACCOUNTS = 100;

/**
 * A function that gives the same state for the same account, for as long as this process runs. Where there are
 * too many accounts, the least recently used one is forgotten, if possible one that is idle.
 */
export function byAccount<State>(
	create: (account: Account) => State,
	isIdle: (state: State) => boolean = () => true,
): (account: Account) => State {
	const states = new Map<string, State>();
	return (account) => {
		const { key } = account;
		const state = states.get(key) ?? create(account);
		states.delete(key);
		if (states.size >= MAX_ACCOUNTS) {
			const [oldest = ''] = states.keys();
			const idle = [...states].find(([, other]) => isIdle(other));
			states.delete(idle?.[0] ?? oldest);
		}
		states.set(key, state);
		return state;
	};
}
