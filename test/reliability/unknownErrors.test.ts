import { inspect } from 'node:util';

import type { IExecuteFunctions, IHttpRequestOptions, INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Result } from '../support/run';
import { batch, contextOf, itemOf, oneByOne, tries, uncertainIn, useBatch } from './batch';

/*
 * If the node throws an unexpected exception after it has sent a create, the item counts as uncertain. Only requests
 * that were certainly not sent count as not created.
 */

const { fixture } = useBatch();
const { callsOf, meets } = fixture;

const boom = new TypeError("Cannot read properties of undefined (reading 'boom')");

/** Counts steps, and throws at the one with this number, but only once. */
class Trap {
	private steps = 0;

	constructor(
		private readonly throwsAt: number,
		private readonly error: Error = boom,
	) {}

	readonly step = (): void => {
		this.steps += 1;
		if (this.steps === this.throwsAt) throw this.error;
	};

	get hasThrown(): boolean {
		return this.steps >= this.throwsAt;
	}
}

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

type Request = IExecuteFunctions['helpers']['httpRequest'];

/** Replaces the function by which n8n sends the requests of the node. */
function useRequest(
	send: (request: Request, options: IHttpRequestOptions) => Promise<unknown>,
): void {
	const { node: type } = fixture.engine.loaded;
	const { execute } = type;
	if (execute === undefined) throw new Error('The node has no function execute');
	jest.spyOn(type, 'execute').mockImplementation(async function (this: IExecuteFunctions) {
		const { helpers } = this;
		const request = helpers.httpRequest.bind(helpers);
		helpers.httpRequest = async (options) => await send(request, options);
		return await Reflect.apply(execute, this, []);
	});
}

const node = { ...oneByOne({ maxRetries: 0 }), settings: tries() };

/**
 * Runs a batch of two items, in which the node throws an error at a step with the response to the first create.
 *
 * @returns whether there is a step with this number
 */
async function throwIn(throwsAt: number, fault: Fault | undefined): Promise<boolean> {
	await fixture.start({});
	hurry();
	meets('createJob', ({ nOfOperation }) => (nOfOperation === 1 ? fault : undefined));
	const trap = new Trap(throwsAt);
	useRequest(async (request, options) => {
		const response = await request(options);
		return callsOf('createJob').length === 1 ? watched(response, trap.step) : response;
	});
	const first = await fixture.engine.run(node, numbered(2));
	if (!trap.hasThrown) return false;
	expect([throwsAt, first.error?.message]).toEqual([throwsAt, expect.stringMatching(/\bmay\b/)]);
	expect(contextOf(first)).toMatchObject({ jobMayExist: true });
	expect(uncertainIn(first)).toEqual([0]);

	const second = await fixture.engine.retry(first, [node]);
	expect(uncertainIn(second)).toEqual([0]);
	expect(callsOf('createJob').map(itemOf)).toEqual([0, 1]);
	return true;
}

test.each([
	['a job', undefined],
	['a 500', answer(500, { message: 'no database', details: ['out of disk'] })],
])(
	'An error that the node does not know, wherever it reads %s after a create, leaves the job uncertain, and no retry creates it again',
	async (_, fault) => {
		let steps = 0;
		while (await throwIn(steps + 1, fault)) steps += 1;
		expect(steps).toBeGreaterThan(2);
	},
);

const ownError = 'This node failed with an error of its own';

test.each<[string, INodeParameters, title: string, description: RegExp]>([
	[
		'a create names the job and what to do',
		batch(),
		`${ownError}; the job may exist`,
		/^Before you run this item again, look on the service for a job named 'Job 0' in namespace 'default'\./,
	],
	[
		'a list asks for a report',
		getAll(),
		ownError,
		/^Please report the error: \(not shown: contains a secret\)$/,
	],
])('The error of %s, and has no secret', async (_, parameters, title, description) => {
	const { password } = fixture.sandbox;
	hurry();
	await fixture.succeeds(getAll());
	let trap: Trap;
	useRequest(async (request, options) => watched(await request(options), trap.step));
	let said: Result['error'];
	// The first errors are taken for broken responses. A list is then sent again.
	for (let step = 1; step < 50 && !said?.message.includes(ownError); step += 1) {
		trap = new Trap(step, new Error(`Not ${password}`));
		said = (await fixture.engine.run({ parameters }, numbered(1))).error;
		expect(inspect(said, { depth: 9 })).not.toContain(password);
	}
	expect(said?.message).toContain(title);
	expect(said?.description).toMatch(description);
});
