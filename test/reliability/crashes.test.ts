import { createUncertainAgainOption } from '../../nodes/JobOrchestration/resources/operation';
import { change, getAll, numbered, useSandbox } from '../support/fixture';
import { batch, contextOf, createdIn, uncertainIn } from './batch';

/*
 * After n8n has crashed during an execution, Retry runs it from its beginning. If n8n had already started the node,
 * nobody knows which jobs exist. All items of a create are then uncertain, and none is sent.
 */

const fixture = useSandbox();
const creates = () => fixture.callsOf('createJob').length;
const node = (options = {}) => ({ parameters: batch(options) });

describe('A Retry after a crash', () => {
	test.each([
		['in the node', ['Items', 'Node 1']],
		['in the node after it', ['Items', 'Node 1', 'Node 2']],
	])(
		'%s creates nothing, and lists all items as uncertain, with their names',
		async (_, started) => {
			const nodes = [node(), ...started.slice(2).map(() => ({ parameters: getAll() }))];
			const result = await fixture.engine.retryCrashed(nodes, numbered(3), started);
			expect(creates()).toBe(0);
			expect(result.error?.message).toBe(
				'0 of 3 jobs were created, 3 more may exist; item 0 failed: n8n was stopped while an earlier execution ran this node; the job may exist',
			);
			const { description } = result.error ?? {};
			expect(description).toMatch(/^Before you run this item again, look on the service/);
			expect(description).toContain(createUncertainAgainOption.displayName);
			expect(description).toContain("• item 2: 'Job 2'");
			expect(uncertainIn(result)).toEqual([0, 1, 2]);
			expect(contextOf(result)).toMatchObject({ httpStatus: null, jobMayExist: true });

			// After the user has looked for the jobs, Retry creates those that are missing.
			const missing = '={{ [0, 2].includes($itemIndex) }}';
			const continued = node({ createUncertainAgain: missing });
			const again = await fixture.engine.retry(result, [continued, ...nodes.slice(1)]);
			expect(creates()).toBe(2);
			expect(uncertainIn(again)).toEqual([1]);
			expect(createdIn(again)).toHaveLength(2);
		},
	);

	test('returns error items if the node continues on errors', async () => {
		const nodes = [{ ...node(), onError: 'continueRegularOutput' as const }];
		const { items } = await fixture.engine.retryCrashed(nodes, numbered(2), ['Items', 'Node 1']);
		expect(creates()).toBe(0);
		const json = { error: { jobMayExist: true } };
		expect(items).toMatchObject([{ json }, { json }]);
	});

	test('runs all items again if the node had not been started, is the tool of an agent, or changes states', async () => {
		const before = await fixture.engine.retryCrashed([node()], numbered(3), ['Items']);
		expect(before.error).toBeUndefined();
		expect(creates()).toBe(3);
		const tool = { ...node(), asTool: true };
		await fixture.engine.retryCrashed([tool], numbered(2), ['Items', 'Node 1']);
		expect(creates()).toBe(5);
		const [id] = fixture.sandbox.store.jobs.keys();
		const stop = { parameters: change('stop', { jobId: id ?? '' }) };
		const { error } = await fixture.engine.retryCrashed([stop], numbered(1), ['Items', 'Node 1']);
		expect(error).toBeUndefined();
		expect(fixture.callsOf('changeJobState')).toHaveLength(1);
	});
});

test.each([
	{ namespace: '={{ "" }}' },
	{ displayName: '={{ $json. }}' },
	{ workCluster: '={{ 7 }}', options: { timeout: 0 } },
	{ operation: 'nothing' },
])(
	'A run with %j, which fails before its calls, is not taken for a crash, and hides no earlier one',
	async (fields) => {
		const broken = { parameters: { ...batch(), ...fields } };
		const failed = await fixture.engine.run(broken, numbered(2));
		expect(failed.error).toBeDefined();
		expect((await fixture.engine.retry(failed, [node()])).error).toBeUndefined();
		expect(creates()).toBe(2);
		const crashed = await fixture.engine.retryCrashed([broken], numbered(2), ['Items', 'Node 1']);
		expect(uncertainIn(await fixture.engine.retry(crashed, [node()]))).toEqual([0, 1]);
		expect(creates()).toBe(2);
	},
);
