import { answer } from '../support/answer';
import { change, create, useSandbox } from '../support/fixture';
import { verbs } from '../support/operations';
import { transitions } from '../../sandbox';

/*
 * Suspend, Resume, Stop and Terminate change the state of a job and return a confirmation. They are sent again if the
 * connection breaks.
 */

const fixture = useSandbox();

test.each(verbs)('%s changes the state of a job, and returns a confirmation', async (operation) => {
	const job = await fixture.newJob(operation);
	const jobId = job.uid;
	const { items } = await fixture.succeeds(change(operation, { jobId }));
	expect(job.state).toBe(transitions[operation].to);
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

test.each(['resume', 'stop', 'suspend', 'terminate'] as const)(
	'the node sends %s again if the connection breaks, because it is idempotent',
	async (verb) => {
		const { uid: jobId } = await fixture.newJob(verb);
		fixture.meets('changeJobState', ({ nOfOperation }) =>
			nOfOperation === 1 ? { kind: 'break', when: 'beforeActing' } : undefined,
		);
		await fixture.succeeds(change(verb, { jobId }));
		expect(fixture.callsOf('changeJobState')).toHaveLength(2);
	},
);

test('a workflow can create, suspend and resume a job with the metadata.uid of each output', async () => {
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

test.each([7, 0, 2 ** 53 - 1])(
	'the next node can stop a job whose ID is the number %i',
	async (uid) => {
		fixture.meets('others', ({ operation }) =>
			answer(200, operation === 'createJob' ? { metadata: { uid } } : undefined),
		);
		const byId = { jobId: '={{ $json.metadata.uid }}' };
		const nodes = [{ parameters: create() }, { parameters: change('stop', byId) }];
		const { items, run } = await fixture.engine.start(nodes, [{}]).result;
		const created = run.data.resultData.runData['Node 1']?.[0]?.data?.main;
		expect(created).toMatchObject([[{ json: { metadata: { uid } } }]]);
		expect(items).toMatchObject([{ json: { metadata: { uid: String(uid) }, success: true } }]);
		const path = `/api/v1/namespaces/default/jobs/${uid}/stop`;
		expect(fixture.callsOf('changeJobState')).toMatchObject([{ path }]);
	},
);
