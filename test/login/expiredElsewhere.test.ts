import type { Expiry } from '../../sandbox';
import { expiries } from '../../sandbox';
import { contextOf } from '../reliability/batch';
import { hurry } from '../support/hurry';
import { HOUR_MS, pass } from '../support/clock';
import { change, create, getAll, useSandbox } from '../support/fixture';

/*
 * A token that is an hour old, at services that tell it in their own ways, to what isn't a create of this node.
 */

afterEach(() => jest.restoreAllMocks());

/** A service that tells an expired token so, with an expired token stored. */
function useExpired(expiry: Expiry) {
	const fixture = useSandbox({ expiry });
	beforeEach(async () => {
		await fixture.engine.run({ parameters: getAll() });
		pass(HOUR_MS);
		fixture.sandbox.clearCalls();
	});
	return fixture;
}

describe.each(expiries)('An expired token that is told by %s', (how) => {
	const fixture = useExpired(how);
	const post = async () =>
		await fixture.engine.requestAsOtherNode({
			method: 'POST',
			uri: `${fixture.sandbox.url}/api/v1/namespaces/default/jobs`,
			body: {
				namespace: 'default',
				job: { displayName: 'x', group: '', workCluster: 'wc-000001', workflow: { uid: 'wf' } },
			},
			json: true,
		});

	test('is renewed for a state change, which is sent again', async () => {
		const result = await fixture.engine.run({ parameters: change('stop', { jobId: 'none' }) });
		expect(contextOf(result)).toMatchObject({ httpStatus: 404 });
		expect(fixture.callsOf('changeJobState')).toHaveLength(2);
		expect(fixture.callsOf('login')).toHaveLength(1);
	});

	test('is renewed for two of the HTTP Request nodes, if n8n takes the answer for an error', async () => {
		await Promise.all([post(), post()]);
		const isError = how !== 'page';
		expect(fixture.callsOf('login')).toHaveLength(isError ? 1 : 0);
		expect(fixture.sandbox.store.jobs.size).toBe(isError ? 2 : 0);
		expect(fixture.callsOf('createJob')).toHaveLength(isError ? 4 : 2);
	});
});

describe('A login for another token', () => {
	const fixture = useExpired('401');

	test('that is never answered is told so, not as a cancel', async () => {
		const { orRunOut } = hurry();
		pass(HOUR_MS);
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? orRunOut({ kind: 'stall', when: 'beforeActing' }) : undefined,
		);
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error?.message).toMatch(/^The service didn't answer the login within/);
	});
});
