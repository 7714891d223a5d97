import type { Sandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { change, credentialFor, newSandbox, numbered } from '../support/fixture';
import type { Result } from '../support/run';
import { batch, createdIn, itemOf } from './batch';
import { namesIn, oneByOne, refused, refusedAt, useBatch } from './batch';

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
		'sends nothing and says which items were done with which account: %s',
		async (_, change) => {
			const failed = await refusedAtSixth();
			const made = jobsOnService();
			const sent = fixture.sandbox.calls.length;
			edit(change());
			const again = await fixture.engine.retry(failed, [node]);
			expect(callsAfter(sent)).toEqual([]);
			expect(again.error?.message).toBe(
				'Nothing more was sent: items 0 to 4 (counted from 0) were done with another account',
			);
			const { userName, url } = fixture.sandbox;
			expect(again.error?.description).toContain(
				`Done as user "${userName}" at ${url}: items 0 to 4.`,
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

	test('changes no state', async () => {
		await fixture.engine.run(node, numbered(1));
		const [jobId] = jobsOnService();
		const parameters = change('stop', { jobId: '={{ $json.id }}', options: { concurrency: 1 } });
		const failed = await fixture.engine.run({ parameters }, [{ id: jobId }, { id: 'gone' }]);
		edit({ baseUrl: other.url });
		const again = await fixture.engine.retry(failed, [{ parameters }]);
		expect(other.calls).toEqual([]);
		expect(again.error?.message).toContain('item 0 (counted from 0) was done with another account');
	});
});

describe('A credential with expressions of the item', () => {
	const users = ['ann', 'bob', 'cid', 'bob'];
	const items = users.map((user, n) => ({ n, user }));

	/** Makes the service accept every login, and create a job for each item except `refuses`. */
	function serveEverybody({ refuses = -1 } = {}): void {
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'login') {
				const { userName } = call.body as { userName: string };
				return answer(200, { access_token: `token-of-${userName}`, token_type: 'Bearer' });
			}
			if (call.operation !== 'createJob') return answer(200);
			const uid = `job-${itemOf(call)}`;
			return itemOf(call) === refuses ? refused : answer(200, { metadata: { uid } });
		});
		edit({ userName: '={{ $json.user }}' });
	}
	const userOf = ({ token }: { token: string | undefined }) => token?.replace('token-of-', '');

	test.each([1, 10])('creates each job as its own user, %i at once', async (concurrency) => {
		serveEverybody();
		const { error } = await fixture.engine.run({ parameters: batch({ concurrency }) }, items);
		expect(error).toBeUndefined();
		const sent = fixture.callsOf('createJob').map((call) => [itemOf(call), userOf(call)]);
		expect(sent.sort()).toEqual(users.map((user, n) => [n, user]));
		expect(fixture.callsOf('login')).toHaveLength(3);
	});

	test('sends one request at a time with a Concurrency of 1, counted over all accounts', async () => {
		serveEverybody();
		await fixture.engine.run(node, items);
		const sent = fixture.sandbox.calls.map(({ operation }) => operation);
		const own = ['login', 'createJob'];
		expect(sent).toEqual([...own, ...own, ...own, 'createJob']);
	});

	test('sends at most two requests at a time with a Concurrency of 2, counted over all accounts', async () => {
		await fixture.start({ latency: 30 });
		serveEverybody();
		const parameters = batch({ concurrency: 2 });
		const { error } = await fixture.engine.run({ parameters }, [...items, ...items]);
		expect(error).toBeUndefined();
		expect(fixture.sandbox.limits.met.most).toBe(2);
	});

	test('keeps for a Retry which user created which job', async () => {
		serveEverybody({ refuses: 2 });
		const failed = await fixture.engine.run(node, items);
		serveEverybody();
		const again = await fixture.engine.retry(failed, [node]);
		expect(again.items).toHaveLength(4);
		expect(timesSent()).toEqual([1, 1, 2, 1]);
		edit({ userName: '={{ $json.user === "bob" ? "eve" : $json.user }}' });
		const { error } = await fixture.engine.retry(failed, [node]);
		expect(error?.message).toContain('item 1 (counted from 0) was done with another account');
		expect(timesSent()).toEqual([1, 1, 2, 1]);
	});

	test('allows a Retry with fewer items, even if an item that is left out was done as another user', async () => {
		serveEverybody({ refuses: 3 });
		const others = ['ann', 'bob', 'bob', 'ann'].map((user, n) => ({ n, user }));
		const failed = await fixture.engine.run(node, others);
		for (const { data } of failed.run.data.executionData?.nodeExecutionStack ?? []) {
			data.main = (data.main ?? []).map((given) => given?.slice(0, 2) ?? null);
		}
		const again = await fixture.engine.retry(failed, [node]);
		expect(again.error).toBeUndefined();
		expect(again.hints).toEqual([expect.stringContaining('item 2: job-2')]);
	});

	test("creates the other items' jobs, if it can't be read for the first and the workflow continues", async () => {
		serveEverybody();
		edit({ userName: '={{ $json.n === 0 ? $("No such node").item.json.user : $json.user }}' });
		const onError = 'continueErrorOutput';
		const { branches } = await fixture.engine.run({ ...node, onError }, items);
		expect(branches.map(({ length }) => length)).toEqual([3, 1]);
		expect(branches[1]).toMatchObject([{ json: { error: { itemIndex: 0, jobMayExist: false } } }]);
	});

	test('sends nothing if the Base URL is invalid for one item', async () => {
		edit({ baseUrl: `={{ $json.n === 2 ? "ftp://x" : "${fixture.sandbox.url}" }}` });
		const result = await fixture.engine.run(node, numbered(4));
		expect(result.error?.message).toMatch(/Base URL/);
		expect(createdIn(result)).toEqual([]);
		expect(fixture.sandbox.calls).toEqual([]);
	});
});
