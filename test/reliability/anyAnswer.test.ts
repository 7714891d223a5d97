import fc from 'fast-check';
import type { IDataObject, INodeParameters, OnError } from 'n8n-workflow';

import type { OperationId, Sandbox } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { credentialFor, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Kind } from '../support/operations';
import { oneOfEachCall } from '../support/operations';
import { Engine } from '../support/run';
import type { DrawnAnswer } from './answers';
import { answersTo } from './answers';
import './seed';

/*
 * Whatever the service answers, to whatever call: the node ends with items, or with an error of n8n's that says
 * something. A right answer ends in what was sent. What was drawn is counted, so that nothing is missing unseen.
 */

const options = { maxRetries: 0, timeout: 10_000, concurrency: 1 };
const operations: Array<[OperationId, Kind, INodeParameters]> = [
	...oneOfEachCall.map(
		({ calls, kind, parameters }) =>
			[calls, kind, parameters({ options })] as [OperationId, Kind, INodeParameters],
	),
	['listClusters', 'read', getAll({ returnAll: true, options })],
	['listClusters', 'read', getAll({ options: { ...options, rawPage: true } })],
];

const modes = fc.constantFrom<OnError>(
	'stopWorkflow',
	'continueRegularOutput',
	'continueErrorOutput',
);

let engine: Engine;
let sandbox: Sandbox;

beforeAll(async () => {
	engine = await Engine.load();
	sandbox = await startSandbox();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => await sandbox.close());

/** What an error item says beside its text: its title and this are in `error` and `message`. */
function detailsOf({ error, message }: IDataObject): IDataObject | undefined {
	return [error, message].find(
		(part): part is IDataObject =>
			typeof part === 'object' && part !== null && 'itemIndex' in part && 'httpStatus' in part,
	);
}

/** The node's output for one item; undefined where it ends in an error, with which a person can do something. */
async function outputOf(
	parameters: INodeParameters,
	onError: OnError,
): Promise<IDataObject[] | undefined> {
	const { error, items } = await engine.run({ parameters, onError });
	if (error !== undefined) {
		expect(onError).toBe('stopWorkflow');
		expect(['NodeApiError', 'NodeOperationError']).toContain(error.name);
		expect(error.message).toMatch(/\S/);
		expect(error.description).toMatch(/\S/);
		expect(error).toMatchObject({ context: { itemIndex: 0 } });
		return undefined;
	}
	const output = items.map(({ json }) => json);
	const details = output.map(detailsOf).find((found) => found !== undefined);
	if (details === undefined) return output;
	expect(onError).not.toBe('stopWorkflow');
	expect(output).toHaveLength(1);
	expect(details).toMatchObject({ itemIndex: 0, description: expect.stringMatching(/\S/) });
	return undefined;
}

/** What of the message must be in the output, as JSON has it. */
function sentIn(kind: Kind, message: unknown): unknown {
	const received: unknown = message === undefined ? null : JSON.parse(JSON.stringify(message));
	const { metadata, items } = Object(received) as IDataObject;
	switch (kind) {
		case 'create':
			return [metadata];
		case 'change':
			return received === '' ? null : received;
		case 'read':
			return items ?? [received];
	}
}

function foundIn(kind: Kind, output: IDataObject[]): unknown {
	switch (kind) {
		case 'create':
			return output.map(({ metadata }) => metadata);
		case 'change':
			return output[0]?.response;
		case 'read':
			return output.flatMap((item) => (Array.isArray(item.items) ? item.items : [item]));
	}
}

/** How often each kind of answer was drawn, and how often the node took it for a good one. */
class Tally {
	readonly drawn = { right: 0, spoilt: 0, any: 0 };
	readonly taken = { right: 0, spoilt: 0, any: 0 };

	add({ kind }: DrawnAnswer, output: IDataObject[] | undefined): void {
		this.drawn[kind] += 1;
		if (output !== undefined) this.taken[kind] += 1;
	}

	/** Expects some of each kind, of a hundred: fewer than four do not happen by chance. */
	expectSomeOfAll(): void {
		for (const count of Object.values(this.drawn)) expect(count).toBeGreaterThanOrEqual(4);
		expect(this.taken.right).toBe(this.drawn.right);
		expect(this.taken.any).toBeLessThan(this.drawn.any);
	}
}

test.each(operations)('to %s (%s), %j', async (operation, kind, parameters) => {
	// All are of one account, whose creates wait for each other after an unclear answer.
	hurry();
	const tally = new Tally();
	const answers = answersTo(operation);
	await fc.assert(
		fc.asyncProperty(answers, answers, modes, async (answer, next, onError) => {
			engine.saveCredential(credentialFor(sandbox));
			sandbox.faults.plan((call) => {
				if (call.operation !== operation) return undefined;
				return call.nOfOperation === 1 ? answer.fault : next.fault;
			});
			const output = await outputOf(parameters, onError);
			tally.add(answer, output);
			if (answer.kind !== 'right') return;
			expect(foundIn(kind, output ?? [])).toEqual(sentIn(kind, answer.message));
		}),
		{ numRuns: 100 },
	);
	tally.expectSomeOfAll();
	// What a state change is answered with may be anything.
	if (kind !== 'change') {
		expect(tally.taken.spoilt).toBeLessThan(tally.drawn.spoilt);
		expect(tally.taken.spoilt).toBeGreaterThan(0);
	}
});

test('to the login', async () => {
	const tally = new Tally();
	let users = 0;
	await fc.assert(
		fc.asyncProperty(answersTo('login'), modes, async (drawn, onError) => {
			users += 1;
			// Each as another user: what is known of an account is remembered for a while.
			engine.saveCredential({ ...credentialFor(sandbox), userName: `user-${users}` });
			let sent: string | undefined;
			sandbox.faults.plan(({ operation, token }) => {
				if (operation === 'login') return drawn.fault;
				sent = token;
				return answer(200, { items: [] });
			});
			const output = await outputOf(getAll({ options }), onError);
			tally.add(drawn, output);
			if (drawn.kind !== 'right') return;
			expect({ access_token: sent }).toEqual({
				access_token: (drawn.message as IDataObject).access_token,
			});
		}),
		{ numRuns: 100 },
	);
	tally.expectSomeOfAll();
	expect(tally.taken.spoilt).toBeLessThan(tally.drawn.spoilt);
	expect(tally.taken.spoilt).toBeGreaterThan(0);
});
