import type { Account } from '../../nodes/JobOrchestration/service/account/account';
import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import { getToken, markRejected } from '../../nodes/JobOrchestration/service/account/tokens';
import type {
	LoginResult,
	TokenSources,
} from '../../nodes/JobOrchestration/service/account/tokens';

let tests = 0;

/**
 * For tests of what is remembered of log-ins, and for how long. The log-in itself is left out: what counts is how
 * often it is asked for.
 */
export function useLogins() {
	const logins: string[] = [];
	beforeEach(() => {
		tests += 1;
		logins.length = 0;
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** An account that no other test knows. */
	const account = (userName: string): Account =>
		accountOf({ baseUrl: `http://${tests}.example.com`, userName, password: 'p' });

	/** A log-in that gives `<user name> 1`, the next time `<user name> 2`, and so on. */
	const login = (userName: string) => async (): Promise<LoginResult> => {
		logins.push(userName);
		const times = logins.filter((name) => name === userName).length;
		return await Promise.resolve({ token: `${userName} ${times}` });
	};

	/** Asks for the token of an account, because there is none or in place of one that was rejected. */
	async function ask(
		userName: string,
		rejected?: string,
		more: Partial<TokenSources> = {},
	): Promise<string> {
		if (rejected !== undefined) markRejected(account(userName), rejected);
		const isRenewal = rejected !== undefined;
		const ways = { isRenewal, login: login(userName), ...more };
		const result = await getToken(account(userName), ways);
		return 'token' in result ? result.token : 'none';
	}

	/** Has so many tokens of an account replaced, one after the other. */
	async function replace(userName: string, times: number): Promise<void> {
		let token = await ask(userName);
		for (let time = 0; time < times; time += 1) token = await ask(userName, token);
	}

	return { account, login, ask, replace, logins };
}

/** Sets the clock to so many milliseconds from now. */
export function clockAt(milliseconds: number): void {
	const now = performance.timeOrigin + 1e6;
	jest.spyOn(Date, 'now').mockReturnValue(now + milliseconds);
}

/** A log-in that ends when the test says so. */
export function slowLogin() {
	let end: (token: string) => void = () => {};
	const begin = jest.fn(
		async () => await new Promise<LoginResult>((done) => (end = (token) => done({ token }))),
	);
	return { begin, end: (token: string) => end(token) };
}

/** Lets all go on that can. */
export async function turn(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
