import type { INodeParameters } from 'n8n-workflow';

import type { CalledOperation, Plan } from '../../sandbox';
import { continuing, errorsIn } from '../reliability/batch';
import { pass } from '../support/clock';
import { getAll, numbered, useSandbox } from '../support/fixture';

/** Gives each test a sandbox, and returns functions for tests of its tokens. */
export function useTokens() {
	const fixture = useSandbox();
	const { callsOf } = fixture;

	/** The number of jobs that the sandbox has created. */
	const jobs = () => fixture.sandbox.store.jobs.size;

	/** The number of logins that the sandbox has received. */
	const logins = () => callsOf('login').length;
	const healthChecks = () =>
		callsOf('listClusters').filter(({ query }) => query['ListOption.limit'] === '1').length;

	/**
	 * Creates jobs in one execution, in which the error of an item doesn't end the others.
	 *
	 * @returns the output, and the items of it that are errors
	 */
	async function run(count = 1, options: INodeParameters = {}) {
		const { items } = await fixture.engine.run(continuing(options), numbered(count));
		return { items, failed: errorsIn({ items }) };
	}

	/** Plans the faults that the calls of each of these operations meet. */
	const plan = (faults: Partial<Record<CalledOperation, Plan>>) =>
		fixture.sandbox.faults.plan((call) => faults[call.operation]?.(call));

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
		let reads = 0;
		fixture.engine.credentials.onRead = () => happens((reads += 1));
	}

	return { fixture, jobs, logins, healthChecks, run, plan, logInBefore, beforeReads };
}
