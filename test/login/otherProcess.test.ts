import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';

import { sessionOf } from '../../nodes/JobOrchestration/service/session/sessions';
import { answer } from '../support/answer';
import { CredentialsInMemory } from '../support/credentialsHelper';
import { credentialFor, getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { Engine } from '../support/run';

/*
 * A token that the service rejects as soon as this process has it: another process may have logged in. Both use the
 * stored credential, where each finds the other's token.
 */

/** What another process does with the stored credential just before it is read. */
type Meanwhile = 'nothing' | 'holds it locked' | { stores: string };

class Shared extends CredentialsInMemory {
	static meanwhile: Meanwhile[] = [];

	protected override async read(id: string): Promise<ICredentialDataDecryptedObject> {
		const next = Shared.meanwhile.shift() ?? 'nothing';
		if (next === 'holds it locked') throw new Error('database is locked');
		const data = await super.read(id);
		if (next === 'nothing') return data;
		this.save(id, { ...data, accessToken: sessionOf(data).toStored(next.stores) });
		return await super.read(id);
	}
}

const fixture = useSandbox();
let engine: Engine;

beforeEach(async () => {
	engine = await Engine.load(Shared);
	engine.saveCredential(credentialFor(fixture.sandbox));
	Shared.meanwhile = [];
	hurry();
	jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => jest.restoreAllMocks());

/** Lists clusters at a service that rejects all tokens but one. */
async function list(
	accepted?: string,
	onCall: (nOfLists: number) => void = () => {},
	items: IDataObject[] = [{}],
) {
	fixture.sandbox.faults.plan(({ operation, nOfOperation, token }) => {
		if (operation !== 'listClusters') return undefined;
		onCall(nOfOperation);
		return token === accepted ? answer(200, { items: [{ name: 'one' }] }) : answer(401);
	});
	const { items: output, error } = await engine.run({ parameters: getAll() }, items);
	return {
		result: error?.message ?? output.map(({ json }) => json.name),
		sent: fixture.callsOf('listClusters').map(({ token }) => token),
		logins: fixture.callsOf('login').length,
		// Turns of the event loop apart.
		waits: jest.mocked(AbortSignal.timeout).mock.calls.flatMap(([ms]) => (ms > 0 ? [ms] : [])),
	};
}

/** Before the second login, whether another process has logged in just now. */
const BEFORE_LOGIN = 300;
/** Before each look for another token, after the second rejection. */
const LOOK = 600;

test('no other token is there: it is looked for three times, and the request fails', async () => {
	const { result, sent, logins, waits } = await list();
	expect(result).toBe('The service rejected the token that it had just issued');
	expect({ sent: sent.length, logins }).toEqual({ sent: 2, logins: 2 });
	expect(waits).toEqual([BEFORE_LOGIN, LOOK, LOOK, LOOK]);
});

test.each<[when: string, Meanwhile[], waits: number[]]>([
	['at once', [{ stores: 'other' }], []],
	['at the first look', ['nothing', { stores: 'other' }], [LOOK]],
	['at the third', ['nothing', 'nothing', 'nothing', { stores: 'other' }], [LOOK, LOOK, LOOK]],
	['once it can be read', ['holds it locked', { stores: 'other' }], [LOOK]],
])(
	"the other process's token is found %s, and goes with the request",
	async (_, meanwhile, looks) => {
		const { result, sent, logins, waits } = await list('other', (n) => {
			if (n === 2) Shared.meanwhile = meanwhile;
		});
		expect(result).toEqual(['one']);
		expect(sent.slice(2)).toEqual(['other']);
		expect(logins).toBe(2);
		expect(waits).toEqual([BEFORE_LOGIN, ...looks]);
	},
);

test('requests that are rejected together look for it together: none fails while another looks', async () => {
	const { result, logins } = await list(
		'other',
		(n) => {
			if (n === 4) Shared.meanwhile = ['nothing', 'nothing', 'nothing', { stores: 'other' }];
		},
		[{}, {}, {}],
	);
	expect(result).toEqual(['one', 'one', 'one']);
	expect(logins).toBe(2);
});

test('one after the other is rejected: the request is sent nine times', async () => {
	const { result, sent, logins, waits } = await list(undefined, (n) => {
		Shared.meanwhile = [{ stores: `other ${n}` }];
	});
	expect(result).toBe('The service rejected the token that it had just issued');
	expect(sent.slice(1)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `other ${n}`));
	expect(logins).toBe(1);
	expect(waits).toEqual([]);
});
