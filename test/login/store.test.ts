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
	test('a read ends after ten seconds, and the jobs are created with the token of a login', async () => {
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
		// The limit of the request's wait for a token ends in the same moment, so the first item may fail.
		await result;
		await until(() => fixture.callsOf('login').length === 1);
	});

	test('a write ends after a second, and the jobs are created with the token of the login', async () => {
		hurry();
		const writes = spyOnWrites().mockImplementation(never);
		await fixture.succeeds(create(), numbered(20));
		expect(writes).toHaveBeenCalledTimes(1);
		expect([fixture.sandbox.store.jobs.size, fixture.callsOf('login').length]).toEqual([20, 1]);
	});

	test('a cancel ends the wait for a token at once', async () => {
		const hangs = gate();
		fixture.meets('login', () => {
			hangs.open();
			return { kind: 'stall', when: 'beforeActing' };
		});
		const cancelled = { node: { parameters: create() }, items: [{}] };
		const hasCome = () => fixture.callsOf('login').length === 1;
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

	test.each([
		['locked', locked],
		['unreachable', refused],
	])('in each write (%s), the jobs are created with the token of one login', async (_, thrown) => {
		spyOnWrites().mockRejectedValue(thrown);
		await fixture.succeeds(create(), numbered(20));
		expect([fixture.sandbox.store.jobs.size, fixture.callsOf('login').length]).toEqual([20, 1]);
	});

	test('in each read after those of the items, the jobs are created with the token of one login', async () => {
		const data = fixture.engine.credentials.look('1');
		let reads = 0;
		spyOnReads().mockImplementation(async () => {
			if ((reads += 1) > 20) throw locked;
			return await Promise.resolve({ ...data });
		});
		await fixture.succeeds(create(), numbered(20));
		expect([fixture.sandbox.store.jobs.size, fixture.callsOf('login').length]).toEqual([20, 1]);
	});

	test('in each read, the error says that nothing was sent', async () => {
		spyOnReads().mockRejectedValue(locked);
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toMatchObject({
			message: "n8n can't use this node's credential: database is locked",
			description: expect.stringMatching(/^Try again later\./),
			context: { jobMayExist: false, httpStatus: null },
		});
		expect(fixture.callsOf('createJob')).toEqual([]);
	});

	test('because the node may not use the credential, the error says to choose another one', async () => {
		const says = 'This credential cannot be used in workflows';
		spyOnReads().mockRejectedValue(new UserError(says));
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toMatchObject({
			message: `n8n can't use this node's credential: ${says}`,
			description: expect.stringContaining('choose another credential in this node') as unknown,
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

	test.each<[when: string, reads: Array<() => void>]>([
		['at once', [stores('other')]],
		['within a second', [isIdle, stores('other')]],
		['once the store can be read', [locksIt, stores('other')]],
		['after three seconds', [isIdle, isIdle, stores('other')]],
	])('the node finds the token of the other process %s', async (_, reads) => {
		const meanwhile = [...reads];
		let isRejected = false;
		beforeReads(() => {
			if (isRejected) meanwhile.shift()?.();
		});
		const { result, tokens, logins } = await list('other', () => (isRejected = true), 1);
		expect(result).toEqual(['one']);
		expect(tokens.at(-1)).toBe('other');
		expect(logins).toBe(1);
	});

	test('at once, the token is found within 1.5 s, without another login', async () => {
		jest.restoreAllMocks();
		await list('none yet', () => {}, 0);
		const startedAt = performance.now();
		let newest = isIdle;
		beforeReads(() => newest());
		const onCall = (n: number) => {
			if (n === 1) setTimeout(() => (newest = stores('other')), 300);
		};
		const { result, logins } = await list('other', onCall, 5);
		expect(result).toEqual(new Array(5).fill('one'));
		expect(logins).toBe(1);
		expect(performance.now() - startedAt).toBeLessThan(1_500);
	});

	test('and every token is rejected, a request fails after five tokens', async () => {
		let newest = isIdle;
		beforeReads(() => newest());
		const onCall = (n: number) => (newest = stores(`other ${n}`));
		const { result, tokens, logins } = await list(undefined, onCall, 1);
		expect(result).toBe('The service rejected the token that it had just issued');
		expect(new Set(tokens).size).toBe(5);
		expect(logins).toBe(1);
	});
});
