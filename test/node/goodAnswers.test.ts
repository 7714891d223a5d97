import { answer } from '../support/answer';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';

/*
 * The node only accepts a response as a job or as a page of clusters if it has the expected content. After a successful
 * create without a job, the error says that the job may exist.
 */

const fixture = useSandbox();

const one = { metadata: { uid: 'one' } };
const noJobs: unknown[] = [
	...['', '  ', -7, 7.5, 2 ** 53, true, null].map((uid) => ({ metadata: { uid } })),
	...[{ metadata: {} }, { metadata: 'uid' }, { metadata: [{ uid: 'one' }] }, { uid: 'one' }, [one]],
];
const words = 'no permission to list';
const noLists: unknown[] = [
	...[{ items: {} }, { items: 'one' }, { items: ['one'] }, { items: [one, null] }, { items: [[]] }],
	...[{ next: 'b' }, ['b'], true].map((token) => ({ items: [], metadata: { continue: token } })),
	...[[one], { clusters: [one] }, { data: { items: [one] } }],
	...[{ message: words }, { metadata: {}, message: words }, { detail: 'Forbidden' }],
	...[{ error: 'maintenance' }, { error: { code: 7 } }, { errors: ['maintenance'] }],
	...[{ code: 5 }, { code: 0, msg: 'キーが無効です' }, { success: false }, { status: 500 }],
];

test.each([
	...noJobs.map((body) => [body, 'job', create()] as const),
	...noLists.map((body) => [body, 'list of work clusters', getAll()] as const),
])('the node does not accept %j as a %s', async (body, wanted, parameters) => {
	fixture.meets('others', answer(200, body));
	const { error, items } = await fixture.engine.run({ parameters });
	expect(items).toEqual([]);
	const mayExist = wanted === 'job' ? 'the job may exist$' : '';
	expect(error?.message).toMatch(
		new RegExp(
			`^The service (.* instead of a ${wanted}|refused to list|failed to list).*${mayExist}`,
		),
	);
});

test.each([7, 0, 2 ** 53 - 1])(
	'the next node can stop a job whose ID is the number %i',
	async (uid) => {
		fixture.meets('others', ({ operation }) =>
			answer(200, operation === 'createJob' ? { metadata: { uid } } : undefined),
		);
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

test.each<[number, unknown, string]>([
	[201, undefined, 'nothing instead of a job; the job may exist'],
	[201, {}, 'an object instead of a job; the job may exist'],
	[201, { id: 7 }, 'an object instead of a job; the job may exist'],
	[202, undefined, 'nothing instead of a job; the job may exist'],
	[202, {}, 'an object instead of a job; the job may exist'],
	[204, undefined, 'nothing instead of a job; the job may exist'],
	[200, 'accepted', 'a text instead of a job; the job may exist'],
])(
	'a success without a job in the response is an error of its item, and the other items are sent: %i with %j',
	async (status, body, title) => {
		fixture.meets('createJob', answer(status, body));
		const onError = 'continueRegularOutput';
		const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(30));
		expect(fixture.callsOf('createJob')).toHaveLength(30);
		expect(items).toHaveLength(30);
		for (const { json } of items) {
			expect(json).toMatchObject({
				message: `The service answered with ${title}`,
				error: {
					description: expect.stringMatching(
						/^Before you run this item again, look on the service /,
					),
					httpStatus: status,
					jobMayExist: true,
				},
			});
		}
	},
);
