import { answer } from '../support/answer';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';

/*
 * Which answers the node takes for a job and for a page of clusters.
 */

const fixture = useSandbox();

test.each([
	[{ metadata: { uid: '' } }],
	[{ metadata: { uid: '  ' } }],
	[{ metadata: { uid: -7 } }],
	[{ metadata: { uid: 7.5 } }],
	[{ metadata: { uid: 2 ** 53 } }],
	[{ metadata: { uid: true } }],
	[{ metadata: { uid: null } }],
	[{ metadata: {} }],
	[{ metadata: 'uid' }],
	[{ metadata: [{ uid: 'one' }] }],
	[{ uid: 'one' }],
	[[{ metadata: { uid: 'one' } }]],
])('%j is no job', async (body) => {
	fixture.answerWith('createJob', body);
	const { error, items } = await fixture.engine.run({ parameters: create() });
	expect(items).toEqual([]);
	expect(error?.message).toMatch(/instead of a job.*the job may exist/);
});

test.each([7, 0, 2 ** 53 - 1])(
	'the number %i is the ID of the job for the next node',
	async (uid) => {
		fixture.sandbox.faults.plan(({ operation }) => {
			if (operation === 'login') return undefined;
			return answer(200, operation === 'createJob' ? { metadata: { uid } } : undefined);
		});
		const byId = { jobId: '={{ $json.metadata.uid }}' };
		const nodes = [{ parameters: create() }, { parameters: change('stop', byId) }];
		const { items, error, run } = await fixture.engine.start(nodes, [{}]).result;
		expect(error).toBeUndefined();
		const created = run.data.resultData.runData['Node 1']?.[0]?.data?.main;
		expect(created).toMatchObject([[{ json: { metadata: { uid } } }]]);
		expect(items).toMatchObject([{ json: { metadata: { uid: String(uid) }, success: true } }]);
		const path = `/api/v1/namespaces/default/jobs/${uid}/stop`;
		expect(fixture.callsOf('changeJobState')).toMatchObject([{ path }]);
	},
);

test('a number as an ID is listed among the jobs that were created', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation !== 'createJob') return undefined;
		return nOfOperation === 1 ? answer(200, { metadata: { uid: 7 } }) : answer(400);
	});
	const parameters = create({ options: { concurrency: 1 } });
	const { error } = await fixture.engine.run({ parameters }, [{}, {}]);
	expect(error?.description).toContain("• item 0: 7 ('Report')");
});

describe('A create that succeeds without a job', () => {
	test.each<[number, unknown, string]>([
		[201, undefined, 'nothing instead of a job; the job exists'],
		[201, {}, 'an empty object instead of a job; the job exists'],
		[201, { id: 7 }, 'an object instead of a job; the job exists'],
		[202, undefined, 'nothing instead of a job; the job may exist'],
		[202, {}, 'an empty object instead of a job; the job may exist'],
		[204, undefined, 'nothing instead of a job; the job may exist'],
		[200, 'accepted', 'a text instead of a job; the job may exist'],
	])('%i with %j: each item is sent, and says so', async (status, body, title) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' ? answer(status, body) : undefined,
		);
		const onError = 'continueRegularOutput';
		const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(30));
		expect(fixture.callsOf('createJob')).toHaveLength(30);
		expect(items).toHaveLength(30);
		for (const { json } of items) {
			expect(json).toMatchObject({
				message: `The service answered with ${title}`,
				error: {
					description: expect.stringMatching(
						/look on the service .*The answer doesn't show the job/s,
					),
					httpStatus: status,
					jobMayExist: true,
				},
			});
		}
	});
});

test.each([
	[{ items: {} }],
	[{ items: 'one' }],
	[{ items: ['one'] }],
	[{ items: [{ metadata: { uid: 'one' } }, null] }],
	[{ items: [[]] }],
	[{ items: [], metadata: { continue: { next: 'b' } } }],
	[{ items: [], metadata: { continue: ['b'] } }],
	[{ items: [], metadata: { continue: true } }],
	[[{ metadata: { uid: 'one' } }]],
])('%j is no list of clusters', async (body) => {
	fixture.answerWith('listClusters', body);
	const { error, items } = await fixture.engine.run({ parameters: getAll() });
	expect(items).toEqual([]);
	expect(error?.message).toMatch(/instead of a list of work clusters/);
});
