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

	return { fixture, logins, healthChecks, logInBefore };
}
