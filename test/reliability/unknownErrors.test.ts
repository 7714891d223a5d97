import { inspect } from 'node:util';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions, Result } from '../support/run';
import { contextOf, itemOf, oneByOne, tries, uncertainIn, useBatch } from './batch';

/*
 * If the node throws an unexpected exception after it has sent a create, the item counts as uncertain. Only requests
 * that were certainly not sent count as not created.
 */

const { fixture } = useBatch();
const { callsOf, meets } = fixture;

/** Returns a copy of a value. Each look at a property of the copy, or of a part of it, is a step. */
function watched(value: unknown, step: () => void): unknown {
	if (typeof value !== 'object' || value === null) return value;
	return new Proxy(value, {
		get: (of: object, key) => {
			step();
			return watched(Reflect.get(of, key), step);
		},
	});
}

/**
 * Runs a node with two items, in which an error that contains the password is thrown when the node looks for this time
 * at the response to the first create or list.
 *
 * @returns the result, or undefined if the node doesn't look that often
 */
async function throwAt(
	look: number,
	node: NodeOptions,
	fault?: Fault,
): Promise<Result | undefined> {
	await fixture.start({});
	hurry();
	meets('createJob', ({ nOfOperation }) => (nOfOperation === 1 ? fault : undefined));
	let looks = 0;
	const step = () => {
		looks += 1;
		if (looks === look) throw new TypeError(`Cannot read '${fixture.sandbox.password}'`);
	};
	const { node: type } = fixture.engine.loaded;
	const { execute } = type as { execute: NonNullable<typeof type.execute> };
	jest.spyOn(type, 'execute').mockImplementation(async function (this: IExecuteFunctions) {
		const { helpers } = this;
		const request = helpers.httpRequest.bind(helpers);
		// n8n's function that sends the requests of the node.
		helpers.httpRequest = async (options) => {
			const response: unknown = await request(options);
			const [, ...others] = fixture.sandbox.calls.filter(({ operation }) => operation !== 'login');
			return others.length === 0 && !options.url.endsWith('/login')
				? watched(response, step)
				: response;
		};
		return await Reflect.apply(execute, this, []);
	});
	const result = await fixture.engine.run(node, numbered(2));
	expect(inspect(result.error, { depth: 9 })).not.toContain(fixture.sandbox.password);
	return looks < look ? undefined : result;
}

const ownError = 'This node failed with an error of its own';

test.each([
	['a job', ownError, undefined],
	['a 500', 'The connection broke', answer(500, { message: 'no database', details: ['full'] })],
])(
	'An error that the node does not know, wherever it reads %s after a create, leaves the job uncertain, and no retry creates it again',
	async (_, title, fault) => {
		const node = { ...oneByOne({ maxRetries: 0 }), settings: tries() };
		const said: string[] = [];
		for (let look = 1; ; look += 1) {
			const first = await throwAt(look, node, fault);
			if (first === undefined) break;
			said.push(String(first.error?.message));
			expect([look, first.error?.message]).toEqual([look, expect.stringMatching(/\bmay\b/)]);
			expect(first.error?.description).toContain(
				"Before you run this item again, look on the service for a job named 'Job 0' in namespace 'default'.",
			);
			expect(contextOf(first)).toMatchObject({ jobMayExist: true });
			expect(uncertainIn(first)).toEqual([0]);

			const second = await fixture.engine.retry(first, [node]);
			expect(uncertainIn(second)).toEqual([0]);
			expect(callsOf('createJob').map(itemOf)).toEqual([0, 1]);
		}
		expect(said.at(-1)).toContain(`item 0 failed: ${title}`);
	},
);

test('The error of a list asks for a report, and has no secret', async () => {
	let error: Result['error'];
	for (let look = 1; !error?.message.includes(ownError); look += 1) {
		const result = await throwAt(look, { parameters: getAll({ options: { maxRetries: 0 } }) });
		({ error } = result as Result);
	}
	expect(error.description).toMatch(/\nPlease report the error: \(not shown: contains a secret\)$/);
});
