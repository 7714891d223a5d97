import { pass } from '../support/clock';
import { getAll, useSandbox } from '../support/fixture';

/** A sandbox for each test, and what the tests of its tokens ask of it. */
export function useTokens() {
	const fixture = useSandbox();
	const { callsOf } = fixture;

	/** How many logins, and how many health checks, the sandbox has seen. */
	const logins = () => callsOf('login').length;
	const healthChecks = () =>
		callsOf('listClusters').filter(({ query }) => query['ListOption.limit'] === '1').length;

	/** Logs in, and lets the token become this old. @returns the token */
	async function logInBefore(ms: number): Promise<string> {
		await fixture.engine.run({ parameters: getAll() });
		pass(ms);
		fixture.sandbox.clearCalls();
		return fixture.engine.token;
	}

	return { fixture, logins, healthChecks, logInBefore };
}
