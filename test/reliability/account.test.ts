import type { Sandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { credentialFor, newSandbox, numbered } from '../support/fixture';
import type { Result } from '../support/run';
import { batch, createdIn, itemOf } from './batch';
import { namesIn, oneByOne, refusedAt, useBatch } from './batch';

/*
 * A job belongs to the account that created it, which is the address of the service and the user. No Retry sends
 * requests for the job to another account.
 */

const { fixture, creates, jobsOnService, timesSent } = useBatch();

const node = oneByOne();

let other: Sandbox;

beforeEach(async () => {
	other = await newSandbox({ password: fixture.sandbox.password });
});

/** Changes after which the credential belongs to another account. */
const edits: Array<[string, () => Partial<ReturnType<typeof credentialFor>>]> = [
	['another address', () => ({ baseUrl: other.url })],
	['another user', () => ({ userName: 'bob' })],
];

const edit = (change: object) => fixture.engine.editCredential({ ...change });
const restore = () => edit(credentialFor(fixture.sandbox));
const callsAfter = (count: number) => [...fixture.sandbox.calls.slice(count), ...other.calls];

describe('A Retry with another account', () => {
	async function refusedAtSixth(): Promise<Result> {
		creates(refusedAt(5));
		const failed = await fixture.engine.run(node, numbered(10));
		fixture.sandbox.faults.clear();
		return failed;
	}

	test.each(edits)(
		'sends nothing and says which account the node has begun with: %s',
		async (_, change) => {
			const failed = await refusedAtSixth();
			const made = jobsOnService();
			const sent = fixture.sandbox.calls.length;
			edit(change());
			const again = await fixture.engine.retry(failed, [node]);
			expect(callsAfter(sent)).toEqual([]);
			expect(again.error?.message).toBe(
				"Nothing more was sent. 'Credential' leads to another account for item 5.",
			);
			const { userName, url } = fixture.sandbox;
			expect(again.error?.description).toContain(
				`This node has begun as user "${userName}" at ${url}, and the credential is now for `,
			);
			expect(again.error?.description).not.toContain(fixture.sandbox.password);
			expect(createdIn(again)).toEqual(made);
			restore();
			expect(namesIn(await fixture.engine.retry(again, [node]))).toHaveLength(10);
			expect(timesSent()).toEqual([1, 1, 1, 1, 1, 2, 1, 1, 1, 1]);
		},
	);

	test('continues if only the spelling of the address differs', async () => {
		const failed = await refusedAtSixth();
		edit({ baseUrl: ` ${fixture.sandbox.url.replace('http', 'HTTP')}// ` });
		expect(namesIn(await fixture.engine.retry(failed, [node]))).toHaveLength(10);
	});
});

describe('The expressions of a credential that use the item', () => {
	const users = ['ann', 'bob', 'cid', 'bob'];
	const items = users.map((user, n) => ({ n, user }));

	/** Makes the service accept every login, and create a job for each item. */
	function serveEverybody(): void {
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'login') {
				const { userName } = call.body as { userName: string };
				return answer(200, { access_token: `token-of-${userName}`, token_type: 'Bearer' });
			}
			if (call.operation !== 'createJob') return answer(200);
			return answer(200, { metadata: { uid: `job-${itemOf(call)}` } });
		});
		edit({ userName: '={{ $json.user }}' });
	}
	const userOf = ({ token }: { token: string | undefined }) => token?.replace('token-of-', '');

	test('send nothing if they lead to several accounts', async () => {
		serveEverybody();
		const { error } = await fixture.engine.run({ parameters: batch() }, items);
		expect(error?.message).toBe(
			"Nothing was sent. 'Credential' leads to another account for item 1.",
		);
		expect(error?.description).toMatch(/begun as user "ann" at .* now for user "bob" at /);
		expect(error?.description).toContain(
			'put a Loop Over Items node with Batch Size 1 before this node, or start a sub-workflow for each item',
		);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test('send nothing and name the item for which they are empty', async () => {
		edit({ userName: '={{ $json.n === 2 ? "" : "ann" }}' });
		const { error } = await fixture.engine.run({ parameters: batch() }, items);
		expect(error?.message).toMatch(/item 2 failed: The credential's 'Username' is empty$/);
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test.each(['right wrong right', 'wrong right wrong'])(
		'send each item with its own password: %s',
		async (passwords) => {
			const all = passwords.replaceAll('right', fixture.sandbox.password);
			edit({ password: `={{ "${all}".split(" ")[$json.n] }}` });
			const onError = 'continueRegularOutput';
			const { items: ended } = await fixture.engine.run({ ...node, onError }, numbered(3));
			const made = ended.map(({ json }) => (json.error === undefined ? 'right' : 'wrong'));
			expect(made.join(' ')).toBe(passwords);
		},
	);

	test('create the jobs of the first account, and the other items fail, if the workflow continues', async () => {
		serveEverybody();
		const onError = 'continueErrorOutput';
		const { branches } = await fixture.engine.run({ ...node, onError }, items);
		expect(branches.map(({ length }) => length)).toEqual([1, 3]);
		expect(branches[1]?.[0]?.json).toMatchObject({ error: { itemIndex: 1, jobMayExist: false } });
		const sent = fixture.callsOf('createJob').map((call) => [itemOf(call), userOf(call)]);
		expect(sent).toEqual([[0, 'ann']]);
	});

	test("create the other items' jobs, if they can't be read for the first and the workflow continues", async () => {
		serveEverybody();
		edit({ userName: '={{ $json.n === 0 ? $("No such node").item.json.user : "bob" }}' });
		const onError = 'continueErrorOutput';
		const { branches } = await fixture.engine.run({ ...node, onError }, items);
		expect(fixture.callsOf('createJob').map(userOf)).toEqual(['bob', 'bob', 'bob']);
		expect(branches.map(({ length }) => length)).toEqual([3, 1]);
		expect(branches[1]).toMatchObject([{ json: { error: { itemIndex: 0, jobMayExist: false } } }]);
	});
});
