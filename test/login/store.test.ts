import { type ICredentialDataDecryptedObject, UserError } from 'n8n-workflow';

import { cancelWhen, gate } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { CredentialsInMemory } from '../support/credentialsHelper';
import { create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { Engine } from '../support/run';

/*
 * The node copes with n8n's credential store: it may fail, never answer, overwrite an edit, or contain a token that
 * another process has stored. These tests replace the store, because it isn't part of n8n's engine.
 */

const fixture = useSandbox();

const onError = 'continueRegularOutput';
const creates = { parameters: create(), onError } as const;
const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
const refused = Object.assign(new Error('connect ECONNREFUSED ::1'), { code: 'ECONNREFUSED' });
const never = async () => await new Promise<never>(() => {});

const spyOnReads = () => jest.spyOn(fixture.engine.credentials, 'getDecrypted');
const spyOnWrites = () => jest.spyOn(fixture.engine.credentials, 'updateCredentials');

/** Calls a function before each read of the store. */
function beforeReads(happens: () => void): void {
	const { credentials } = fixture.engine;
	const read = credentials.getDecrypted.bind(credentials);
	spyOnReads().mockImplementation(async (...args) => {
		happens();
		return await read(...args);
	});
}

/**
 * Behaves like n8n's store up to release 2.20: together with the token, it stores all data that the request has read.
 */
class Overwriting extends CredentialsInMemory {
	protected override async withToken(
		_id: string,
		credentials: ICredentialDataDecryptedObject,
		output: ICredentialDataDecryptedObject,
	) {
		return await Promise.resolve({ ...credentials, ...output });
	}
}

test("a login does not undo an edit, if n8n's store overwrites it with the data that the request had read", async () => {
	const engine = await Engine.load(Overwriting);
	engine.saveCredential(credentialFor(fixture.sandbox));
	const held = gate();
	fixture.meets('login', () => ({ kind: 'wait', when: 'afterActing', until: held.opened }));
	const running = engine.run({ parameters: create() });
	await until(() => fixture.callsOf('login').length === 1);
	const edit = { password: 'edited', userName: 'somebody else' };
	engine.editCredential(edit);
	held.open();
	expect((await running).error).toBeUndefined();
	expect(engine.credentials.look('1')).toMatchObject(edit);
});

describe("If n8n's store of credentials never answers", () => {
	const late = {
		message: "The service didn't answer the login within 60 s",
		error: { jobMayExist: false, httpStatus: null },
	};

	test('Timeout ends the read before a login, for all items', async () => {
		const { runOut } = hurry();
		const hangs = gate();
		const data = fixture.engine.credentials.look('1');
		// The first two reads are those of the items.
		const reads = spyOnReads().mockResolvedValueOnce(data).mockResolvedValueOnce(data);
		reads.mockImplementation(async () => {
			hangs.open();
			return await never();
		});
		const parameters = create({ options: { concurrency: 1 } });
		const { result } = fixture.engine.start([{ parameters, onError }], numbered(2));
		await hangs.opened;
		runOut();
		expect((await result).items).toMatchObject([{ json: late }, { json: late }]);
	});

	test('Timeout ends the write of the token, and the jobs of other items are created', async () => {
		const { runOut } = hurry();
		const writes = spyOnWrites().mockImplementationOnce(never);
		const { result } = fixture.engine.start([creates], [{}]);
		await until(() => writes.mock.calls.length === 1);
		await fixture.engine.run({ parameters: create() }, numbered(20));
		expect(fixture.sandbox.store.jobs.size).toBe(20);
		runOut();
		expect((await result).items).toMatchObject([{ json: late }]);
	});

	test('a cancel ends the write of the token at once', async () => {
		const writes = spyOnWrites().mockImplementationOnce(never);
		const cancelled = { node: { parameters: create() }, items: [{}] };
		const hasCome = () => writes.mock.calls.length === 1;
		const { result } = await cancelWhen(fixture.engine, cancelled, hasCome);
		expect(result.error?.message).toBe('The execution was cancelled');
		expect(fixture.callsOf('createJob')).toEqual([]);
	});
});

describe("If n8n's store of credentials fails", () => {
	test('in one read, one item fails', async () => {
		spyOnReads().mockRejectedValueOnce(locked);
		const { items } = await fixture.engine.run(creates, numbered(20));
		const failed = items.filter(({ json }) => json.error !== undefined);
		expect(failed).toMatchObject([{ json: { error: { jobMayExist: false } } }]);
		expect(JSON.stringify(failed)).toContain('database is locked');
	});

	test('in two writes, no item fails', async () => {
		spyOnWrites().mockRejectedValueOnce(locked).mockRejectedValueOnce(locked);
		await fixture.succeeds(create(), numbered(20));
		expect(fixture.sandbox.store.jobs.size).toBe(20);
	});

	test.each([
		['a read', spyOnReads, locked, /n8n says: "database is locked"/],
		['a write', spyOnWrites, locked, /n8n says: "database is locked"/],
		['a write', spyOnWrites, refused, /n8n says: ".*refused the connection/],
	])('in %s repeatedly, the error says that nothing was sent', async (_, spy, thrown, says) => {
		spy().mockRejectedValue(thrown);
		const { error } = await fixture.engine.run({
			parameters: create({ options: { maxRetries: 1 } }),
		});
		expect(error).toMatchObject({
			message: "n8n couldn't send the request",
			description: expect.stringMatching(says),
			context: { jobMayExist: false, httpStatus: null },
		});
		expect(fixture.callsOf('createJob')).toEqual([]);
	});

	test('because the node may not use the credential, the error says to choose another one', async () => {
		const says = 'This credential cannot be used in workflows';
		spyOnReads().mockRejectedValue(new UserError(says));
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toMatchObject({
			message: "n8n can't use this node's credential",
			description: `Choose another credential in this node.\nNothing was sent. n8n says: "${says}".`,
			context: { jobMayExist: false, httpStatus: null },
		});
	});
});

/*
 * The service rejects a token as soon as this process has it, because another process may have logged in. Both
 * processes use the stored credential, and each can find the other's token in it.
 */
describe('If the login of another process ends the token of this process', () => {
	beforeEach(() => void hurry());

	/** What the other process does with the stored credential. */
	const isIdle = () => {};
	const locksIt = () => {
		throw locked;
	};
	const stores = (token: string) => () => fixture.engine.storeAsOtherProcess(token);

	/** Lists clusters from a service that accepts at most one token. */
	async function list(accepted?: string, onCall: (n: number) => void = () => {}, count = 3) {
		fixture.meets('listClusters', ({ nOfOperation, token }) => {
			onCall(nOfOperation);
			return token === accepted ? answer(200, { items: [{ name: 'one' }] }) : answer(401);
		});
		const { items, error } = await fixture.engine.run({ parameters: getAll() }, numbered(count));
		return {
			result: error?.message ?? items.map(({ json }) => json.name),
			tokens: fixture.callsOf('listClusters').map(({ token }) => token),
			logins: fixture.callsOf('login').length,
		};
	}

	/**
	 * The first token is rejected by three lists and a health check. After six more health checks, the node logs in
	 * again.
	 */
	test.each<[when: string, nOfCall: number, reads: Array<() => void>, logins: number]>([
		['at once', 4, [stores('other')], 1],
		['at the second read', 4, [isIdle, stores('other')], 1],
		['once the store can be read', 4, [locksIt, stores('other')], 1],
		[
			'at the last read before the second login',
			4,
			[...new Array(5).fill(isIdle), stores('other')],
			1,
		],
		['after two logins', 14, [stores('other')], 2],
		['at the last read', 14, [...new Array(5).fill(isIdle), stores('other')], 2],
	])('the node finds the token of the other process %s', async (_, nOfCall, reads, expected) => {
		let meanwhile: Array<() => void> = [];
		beforeReads(() => meanwhile.shift()?.());
		const { result, tokens, logins } = await list('other', (n) => {
			if (n === nOfCall) meanwhile = [...reads];
		});
		expect(result).toEqual(['one', 'one', 'one']);
		expect(tokens.slice(-3)).toEqual(['other', 'other', 'other']);
		expect(logins).toBe(expected);
	});

	test('and every token is rejected, a request fails after a limited number of tokens', async () => {
		let newest = isIdle;
		beforeReads(() => newest());
		const onCall = (n: number) => (newest = stores(`other ${n}`));
		const { result, tokens, logins } = await list(undefined, onCall, 1);
		expect(result).toBe('The service rejected the token that it had just issued');
		// The limit is forty tokens, plus three Max Request Retries.
		expect(new Set(tokens).size).toBe(43);
		expect(logins).toBe(1);
	});
});
