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

test('no other token is there: two logins, and the request fails', async () => {
	const { result, logins, waits } = await list();
	expect(result).toBe('The service rejected the token that it had just issued');
	expect(logins).toBe(2);
	expect(waits.length).toBeGreaterThan(0);
});

/** With the second call of the service, the first token is known as rejected; with the fourth, that of the second login. */
const cases: Array<[when: string, nOfCall: number, meanwhile: Meanwhile[], logins: number]> = [
	['at once', 2, [{ stores: 'other' }], 1],
	['at the second look', 2, ['nothing', { stores: 'other' }], 1],
	['once it can be read', 2, ['holds it locked', { stores: 'other' }], 1],
	['after two logins', 4, [{ stores: 'other' }], 2],
	['at the last look', 4, ['nothing', 'nothing', 'nothing', { stores: 'other' }], 2],
];

describe.each([1, 3])(
	"the other process's token goes with the requests of %i items, found",
	(count) => {
		test.each(cases)('%s', async (_, nOfCall, meanwhile, expected) => {
			const items = new Array<IDataObject>(count).fill({});
			// The items are sent at the same time, and share the question that follows.
			const n = nOfCall + (nOfCall / 2) * (count - 1);
			const { result, sent, logins } = await list(
				'other',
				(call) => {
					if (call === n) Shared.meanwhile = [...meanwhile];
				},
				items,
			);
			expect(result).toEqual(new Array(count).fill('one'));
			expect(sent.slice(-count)).toEqual(new Array(count).fill('other'));
			expect(logins).toBe(expected);
		});
	},
);

test('one after the other is rejected: the request ends with nine tokens', async () => {
	const { result, sent, logins } = await list(undefined, (n) => {
		Shared.meanwhile = [{ stores: `other ${n}` }];
	});
	expect(result).toBe('The service rejected the token that it had just issued');
	expect(new Set(sent).size).toBe(9);
	expect(logins).toBe(1);
});
