import { UserError } from 'n8n-workflow';

import { gate } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { MINUTE_MS } from '../support/clock';
import { create, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import { useTokens } from './tokens';

/*
 * The node copes with n8n's credential store: it may fail, never answer, or contain a token that another process
 * has stored. These tests replace the store, because it isn't part of n8n's engine.
 */

const { fixture, jobs, logins, run, beforeReads, logInBefore } = useTokens();

const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
const refused = Object.assign(new Error('connect ECONNREFUSED ::1'), { code: 'ECONNREFUSED' });
const never = async () => await new Promise<never>(() => {});

const spyOnReads = () => jest.spyOn(fixture.engine.credentials, 'getDecrypted');
const spyOnWrites = () => jest.spyOn(fixture.engine.credentials, 'updateCredentials');

test("a read of n8n's store that never ends is given up after ten seconds, and the node logs in", async () => {
	const { runOut } = hurry();
	const hangs = gate();
	const data = fixture.engine.credentials.look('1');
	// The first two reads are those of the items.
	const reads = spyOnReads().mockResolvedValueOnce(data).mockResolvedValueOnce(data);
	reads.mockImplementation(async () => {
		hangs.open();
		return await never();
	});
	const running = run(2, { concurrency: 1 });
	await hangs.opened;
	runOut();
	// The limit of the request's wait for a token ends in the same moment, so the first item may fail.
	await running;
	await until(() => logins() === 1);
});

test.each<[string, () => void]>([
	[
		'never answers a write, which ends after a second',
		() => spyOnWrites().mockImplementation(never),
	],
	['is locked at each write', () => spyOnWrites().mockRejectedValue(locked)],
	["can't be reached at each write", () => spyOnWrites().mockRejectedValue(refused)],
	[
		'is locked at each read after those of the items',
		() =>
			beforeReads((read) => {
				if (read > 20) throw locked;
			}),
	],
])(
	"If n8n's store of credentials %s, the jobs are created with the token of one login",
	async (_, breakStore) => {
		hurry();
		breakStore();
		await run(20);
		expect([jobs(), logins()]).toEqual([20, 1]);
	},
);

test("if n8n's store of credentials fails in one read, one item fails", async () => {
	spyOnReads().mockRejectedValueOnce(locked);
	const { failed } = await run(20);
	expect(failed).toMatchObject([{ error: { jobMayExist: false } }]);
	expect(JSON.stringify(failed)).toContain('database is locked');
});

test('if n8n fails in the login of one execution, an execution that waits for it logs in by itself', async () => {
	const { credentials } = fixture.engine;
	jest.spyOn(credentials, 'preAuthentication').mockRejectedValueOnce(locked);
	const runs = await Promise.all([1, 2].map(async () => await run(1, { maxRetries: 0 })));
	expect(runs.flatMap(({ failed }) => failed)).toHaveLength(1);
	expect(jobs()).toBe(1);
});

test('an error hides the token in use, also if the store of credentials has older ones', async () => {
	const older: string[] = [];
	for (let logIns = 0; logIns < 3; logIns += 1) {
		older.push(await logInBefore(MINUTE_MS));
		fixture.sandbox.tokens.expireAll();
	}
	await fixture.succeeds(getAll());
	const inUse = fixture.engine.token;
	fixture.meets('listClusters', ({ token }) => answer(400, { message: `Bad token ${token}` }));
	for (const token of older.slice(1)) {
		fixture.engine.storeAsOtherProcess(token);
		const { error } = await fixture.engine.run({ parameters: getAll() });
		expect(error?.description).toContain("The answer isn't shown");
		expect(JSON.stringify(error)).not.toContain(inUse);
	}
});

const choose =
	/^Choose a credential in this node, or open the one that is chosen and save it again\./;

test.each<[why: string, thrown: Error | undefined, reason: string, advice: RegExp]>([
	['is locked', locked, 'database is locked', /try again later\./],
	// The errors of n8n-core and n8n for these cases.
	['is missing', undefined, '', choose],
	['was deleted', new Error('Credential "7" does not exist'), 'Credential "7" does', choose],
	['has another key', new Error('Credentials could not be decrypted'), 'Credentials could', choose],
	['may not be used', new UserError('This credential cannot be used'), 'This credential', choose],
])(
	'if the credential of a node %s, its error says so, and nothing was sent',
	async (_, thrown, reason, advice) => {
		if (thrown !== undefined) spyOnReads().mockRejectedValue(thrown);
		const settings = thrown === undefined ? { credentials: {} } : {};
		const { error } = await fixture.engine.run({ parameters: create(), settings });
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringContaining(
				`n8n can't use this node's credential: ${reason}`,
			) as unknown,
			description: expect.stringMatching(advice) as unknown,
			context: { itemIndex: 0, jobMayExist: false, httpStatus: null },
		});
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

/*
 * The service rejects a token as soon as this process has it, because another process may have logged in. Both
 * processes use the stored credential, and each can find the other's token in it.
 */
const isIdle = () => {};
const locksIt = () => {
	throw locked;
};
const stores = () => fixture.engine.storeAsOtherProcess('other');

test.each<[when: string, reads: Array<() => void>]>([
	['at once', [stores]],
	['within a second', [isIdle, stores]],
	['once the store can be read', [locksIt, stores]],
	['after three seconds', [isIdle, isIdle, stores]],
])(
	'If the login of another process ends the token of this process, the node finds its token %s',
	async (_, reads) => {
		hurry();
		const meanwhile = [...reads];
		let isRejected = false;
		beforeReads(() => {
			if (isRejected) meanwhile.shift()?.();
		});
		fixture.meets('listClusters', ({ token }) => {
			isRejected = true;
			return token === 'other' ? answer(200, { items: [] }) : answer(401);
		});
		await fixture.succeeds(getAll());
		expect(fixture.callsOf('listClusters').at(-1)?.token).toBe('other');
		expect(logins()).toBe(1);
	},
);
