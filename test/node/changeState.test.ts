import { answer, onlyAt } from '../support/answer';
import { change, create, useSandbox } from '../support/fixture';
import { operations, verbOf, verbs } from '../support/operations';
import { transitions } from '../../sandbox';

/*
 * Each verb changes the state of a job and returns a confirmation. It is only sent again after a broken connection if it
 * is idempotent. A new verb is tested without a change of this file.
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

test.each(operations.filter(({ kind }) => kind === 'change'))(
	'the node sends $value again if the connection breaks, if it is idempotent: $idempotent',
	async ({ value, idempotent }) => {
		// The interface document shows these.
		if (/^(suspend|resume|stop|terminate)$/.test(value)) expect(idempotent).toBe(true);
		const { uid: jobId } = await fixture.newJob(verbOf(value));
		fixture.meets('changeJobState', onlyAt(1, { kind: 'break', when: 'afterActing' }));
		const { error } = await fixture.engine.run({ parameters: change(value, { jobId }) });
		expect(error?.message ?? 'succeeded').toMatch(idempotent ? 'succeeded' : 'it may have worked');
		expect(fixture.callsOf('changeJobState')).toHaveLength(idempotent ? 2 : 1);
	},
);

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
