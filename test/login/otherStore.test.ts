import { UserError, type ICredentialDataDecryptedObject } from 'n8n-workflow';

import type * as Sessions from '../../nodes/JobOrchestration/service/session/sessions';
import { CredentialsInMemory } from '../support/credentialsHelper';
import { create, credentialFor, numbered, useSandbox } from '../support/fixture';
import { Engine } from '../support/run';
import { until } from '../sandbox/client';
import { gate } from '../reliability/batch';
import { hurry } from '../support/hurry';

/*
 * n8n's store of credentials is not part of its engine: here it is slow, fails, or writes back what it has read.
 */

type Data = ICredentialDataDecryptedObject;

/** As n8n's loader has it. */
const { sessionOf } = jest.requireActual<typeof Sessions>(
	'../../dist/nodes/JobOrchestration/service/session/sessions',
);

/** As n8n's own up to 2.20: with the token, it stores all that the request has read before. */
class Overwriting extends CredentialsInMemory {
	protected override async withToken(_id: string, credentials: Data, output: Data) {
		return await Promise.resolve({ ...credentials, ...output });
	}
}

type Failing = Partial<Record<'read' | 'write', number>>;

/** Fails its first reads or writes, or never answers one of them. */
class Unwell extends CredentialsInMemory {
	static failures: Failing = {};
	static hangsAt: Failing = {};
	static error: unknown;
	hangs = false;
	readonly calls = { read: 0, write: 0 };

	override async getDecrypted(...parameters: Parameters<CredentialsInMemory['getDecrypted']>) {
		await this.meetTrouble('read');
		return await super.getDecrypted(...parameters);
	}

	override async updateCredentials(
		...parameters: Parameters<CredentialsInMemory['updateCredentials']>
	): Promise<void> {
		await this.meetTrouble('write');
		await super.updateCredentials(...parameters);
	}

	private async meetTrouble(kind: 'read' | 'write'): Promise<void> {
		const nth = (this.calls[kind] += 1);
		if (nth <= (Unwell.failures[kind] ?? 0)) throw Unwell.error;
		if (nth !== Unwell.hangsAt[kind]) return;
		this.hangs = true;
		await new Promise<never>(() => {});
	}
}

const databaseError = (code: string, message: string) =>
	Object.assign(new Error(message), { code });

describe('where the store of credentials', () => {
	const fixture = useSandbox();
	const engineWith = async (Store: typeof CredentialsInMemory) => {
		const engine = await Engine.load(Store);
		engine.saveCredential(credentialFor(fixture.sandbox));
		return engine;
	};
	const saysLocked = /n8n says: "database is locked"/;
	const locked = databaseError('SQLITE_BUSY', 'database is locked');

	beforeEach(() => {
		[Unwell.failures, Unwell.hangsAt, Unwell.error] = [{}, {}, locked];
	});
	afterEach(() => jest.restoreAllMocks());

	test('writes back what was read, an edit meanwhile is not undone', async () => {
		const engine = await engineWith(Overwriting);
		const { opened, open } = gate();
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? { kind: 'wait', when: 'afterActing', until: opened } : undefined,
		);
		const running = engine.run({ parameters: create() });
		await until(() => fixture.callsOf('login').length === 1);
		engine.editCredential({ password: 'edited', userName: 'somebody else' });
		open();
		expect((await running).error).toBeUndefined();
		expect(engine.credentials.look('1')).toMatchObject({
			password: 'edited',
			userName: 'somebody else',
		});
	});

	describe('does not answer', () => {
		const numberedItems = numbered(30);
		const places = [
			// Each of the 30 items has been read before.
			['the read before a login', { read: 31 }, 30],
			['the write of the token', { write: 1 }, 1],
		] as const;

		test.each(places)('for ever, Timeout ends it: %s', async (_, hangsAt, failed) => {
			const { runOut } = hurry();
			const engine = await engineWith(Unwell);
			Unwell.hangsAt = hangsAt;
			const node = { parameters: create(), onError: 'continueRegularOutput' } as const;
			const { result } = engine.start([node], numberedItems);
			const { credentials } = engine;
			const hangs = () =>
				credentials instanceof Unwell &&
				credentials.hangs &&
				fixture.sandbox.store.jobs.size === 30 - failed;
			const { limiter } = sessionOf(credentialFor(fixture.sandbox));
			// All others have their answer.
			await until(() => hangs() && limiter.gate.inFlight === Math.min(failed, 10));
			runOut();
			const { items } = await result;
			const errors = items.filter(({ json }) => json.error !== undefined);
			expect(errors).toHaveLength(failed);
			for (const { json } of errors) {
				expect(json.message).toBe("The service didn't answer the login within 60 s");
				expect(json.error).toMatchObject({ jobMayExist: false, httpStatus: null });
			}
		});

		test('for ever, a cancel ends it at once: the write of the token', async () => {
			const engine = await engineWith(Unwell);
			Unwell.hangsAt = { write: 1 };
			const execute = jest.spyOn(engine.loaded.node, 'execute');
			const running = engine.start([{ parameters: create() }], [{}]);
			await until(() => fixture.callsOf('login').length > 0);
			running.cancel();
			await running.result;
			await expect(execute.mock.results[0]?.value).rejects.toThrow('The execution was cancelled');
			expect(fixture.callsOf('createJob')).toEqual([]);
		});
	});

	test('fails to read once, one item fails', async () => {
		const engine = await engineWith(Unwell);
		Unwell.failures = { read: 1 };
		const node = { parameters: create(), onError: 'continueRegularOutput' } as const;
		const { items } = await engine.run(node, numbered(50));
		const failed = items.filter(({ json }) => json.error !== undefined);
		expect(failed).toMatchObject([{ json: { error: { jobMayExist: false } } }]);
		expect(JSON.stringify(failed)).toContain('database is locked');
	});

	test('fails to write for a moment, no item fails', async () => {
		const engine = await engineWith(Unwell);
		Unwell.failures = { write: 2 };
		const { error } = await engine.run({ parameters: create() }, numbered(30));
		expect(error).toBeUndefined();
		expect(fixture.sandbox.store.jobs.size).toBe(30);
	});

	test.each([
		'Credential with ID "1" does not exist for type "jobOrchestrationApi".',
		'This credential cannot be used in workflows',
	])('refuses the credential, the error says to choose another: %s', async (says) => {
		const engine = await engineWith(Unwell);
		Unwell.failures = { read: Infinity };
		Unwell.error = new UserError(says);
		const { error } = await engine.run({ parameters: create() });
		expect(error).toMatchObject({
			message: "n8n can't use this node's credential",
			description: `Choose another credential in this node.\nNothing was sent. n8n says: "${says}".`,
			context: { jobMayExist: false, httpStatus: null },
		});
	});

	test.each([
		['read', locked, saysLocked],
		['write', locked, saysLocked],
		[
			'write',
			databaseError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
			/n8n says: ".*refused the connection/,
		],
		['write', databaseError('ETIMEDOUT', 'read ETIMEDOUT'), /n8n says: ".*timed out/],
	])('fails each %s with %s, the error says that nothing was sent', async (kind, thrown, says) => {
		const engine = await engineWith(Unwell);
		Unwell.failures = { [kind]: Infinity };
		Unwell.error = thrown;
		const { error } = await engine.run({ parameters: create({ options: { maxRetries: 1 } }) });
		expect(error).toMatchObject({
			message: "n8n couldn't send the request",
			description: expect.stringMatching(says),
			context: { jobMayExist: false, httpStatus: null },
		});
		expect(fixture.callsOf('createJob')).toEqual([]);
	});
});
