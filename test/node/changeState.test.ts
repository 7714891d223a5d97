import { actAndAnswer, answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { verbs } from '../support/operations';
import { makeReadyFor, states } from '../sandbox/states';

const fixture = useSandbox();

async function newJob(): Promise<string> {
	const { items } = await fixture.engine.run({ parameters: create() });
	const [job] = [...fixture.sandbox.store.jobs.values()];
	expect(items).toHaveLength(1);
	return String(job?.uid);
}

test.each(verbs)('%s changes the state of a job', async (operation) => {
	const jobId = await newJob();
	const job = fixture.sandbox.store.jobs.get(jobId);
	if (job !== undefined) makeReadyFor(operation, job);
	const { items, error } = await fixture.engine.run({ parameters: change(operation, { jobId }) });
	expect(error).toBeUndefined();
	expect(job?.state).toBe(states[operation].to);
	expect(items).toEqual([
		{
			json: {
				metadata: { namespace: 'default', uid: jobId },
				operation,
				success: true,
				response: null,
			},
			pairedItem: { item: 0 },
		},
	]);
	expect(fixture.callsOf('changeJobState')).toMatchObject([
		{
			method: 'PUT',
			path: `/api/v1/namespaces/default/jobs/${jobId}/${operation}`,
			body: undefined,
		},
	]);
});

test('a job is created, suspended and resumed in one workflow, by metadata.uid after each step', async () => {
	const byId = { jobId: '={{ $json.metadata.uid }}' };
	const { result } = fixture.engine.start(
		[
			{ parameters: create() },
			{ parameters: change('suspend', byId) },
			{ parameters: change('resume', byId) },
		],
		[{}, {}],
	);
	const { items, error } = await result;
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json.operation)).toEqual(['resume', 'resume']);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

describe('A redirect', () => {
	/** Stops a job whose name may look like a part of a login page's address, and is answered so. */
	const stop = async (status: number, location: string | undefined, body?: unknown) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'changeJobState'
				? actAndAnswer(status, body, location === undefined ? undefined : { location })
				: undefined,
		);
		const jobId = await newJob();
		const result = await fixture.engine.run({ parameters: change('stop', { jobId }) });
		expect(fixture.callsOf('changeJobState')).toHaveLength(1);
		expect(fixture.callsOf('login')).toHaveLength(1);
		return result;
	};

	test.each<[string | undefined, unknown]>([
		['/jobs/account-sso-login', undefined],
		['https://elsewhere.example.com/jobs/1', '<html><body>See other</body></html>'],
		[undefined, { success: false }],
	])('303 to %s is done', async (location, body) => {
		const { items, error } = await stop(303, location, body);
		expect(error).toBeUndefined();
		expect(items).toMatchObject([{ json: { operation: 'stop', success: true, response: null } }]);
	});

	test.each([301, 302, 300])('%i may have worked', async (status) => {
		const { error } = await stop(status, 'https://elsewhere.example.com/jobs/1');
		expect(error?.message).toBe('The service redirects to https://elsewhere.example.com/jobs/1');
		expect(error?.description).toContain('It may have worked.');
	});

	test.each([307, 308])('%i has not worked', async (status) => {
		const { error } = await stop(status, 'https://elsewhere.example.com/jobs/1');
		expect(error?.description).not.toContain('may have worked');
	});

	test.each([create(), getAll()])('303 to any other request is an error', async (parameters) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? undefined : answer(303, {}, { location: '/jobs/1' }),
		);
		const { error } = await fixture.engine.run({ parameters });
		expect(error?.message).toMatch(/^The service redirects to \/jobs\/1/);
	});
});
