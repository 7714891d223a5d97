import { pass } from '../support/clock';
import { getAll, useSandbox } from '../support/fixture';

/** Gives each test a sandbox, and returns functions for tests of its tokens. */
export function useTokens() {
	const fixture = useSandbox();
	const { callsOf } = fixture;

	/** The number of logins that the sandbox has received. */
	const logins = () => callsOf('login').length;
	const healthChecks = () =>
		callsOf('listClusters').filter(({ query }) => query['ListOption.limit'] === '1').length;

	/**
	 * Logs in, makes the token this old, and clears the recorded calls.
	 *
	 * @returns the token
	 */
	async function logInBefore(ms: number): Promise<string> {
		await fixture.engine.run({ parameters: getAll() });
		pass(ms);
		fixture.sandbox.clearCalls();
		return fixture.engine.token;
	}

	/**
	 * Calls a function before each read of n8n's credential store.
	 *
	 * @param happens gets the number of the read, from 1
	 */
	function beforeReads(happens: (read: number) => void): void {
		const { credentials } = fixture.engine;
		const read = credentials.getDecrypted.bind(credentials);
		let reads = 0;
		jest.spyOn(credentials, 'getDecrypted').mockImplementation(async (...args) => {
			happens((reads += 1));
			return await read(...args);
		});
	}

	return { fixture, logins, healthChecks, logInBefore, beforeReads };
}
