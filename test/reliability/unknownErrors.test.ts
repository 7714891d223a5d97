import { inspect } from 'node:util';

import type { INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, getAll, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { batch, contextOf, itemOf, oneByOne, tries, uncertainIn, useBatch } from './batch';

/*
 * If the node throws an unexpected exception after it has sent a create, the item counts as uncertain. Only requests
 * that were certainly not sent count as not created.
 */

const { fixture } = useBatch();
const { callsOf, meets } = fixture;

/** Returns a built module of the node, of which n8n's loader uses the same copy. */
const built = (path: string): object =>
	jest.requireActual(`../../dist/nodes/JobOrchestration/service/${path}`);
/** Returns the prototype of a class in this module. */
const methodsOf = (path: string, name: string) =>
	(built(path) as Record<string, { prototype: object }>)[name]?.prototype ?? {};

const fails = answer(500);
/** What happens to a create, a step after it, and where the step is done. */
const steps: Array<[step: string, fault: Fault | undefined, owner: object, method: string]> = [
	['the answer is read', undefined, built('errors/result'), 'resultOf'],
	['the answer is noted', undefined, methodsOf('session/tokens', 'Tokens'), 'accept'],
	['the permit is given back', undefined, methodsOf('pace/limiter', 'AccountLimiter'), 'release'],
	['the ID of the job is read', undefined, built('calls/jobs'), 'uidOf'],
	['secrets are looked for', undefined, methodsOf('client', 'ServiceClient'), 'redact'],
	['the policy is asked about a 500', fails, built('retry/policy'), 'next'],
	['the texts of a 500 are made', fails, built('errors/statuses'), 'textsOf'],
	['the token of a 500 is judged', fails, methodsOf('session/session', 'Session'), 'nextToken'],
	['the error of a 500 is made', fails, built('errors/problem'), 'callError'],
];

const boom = new TypeError("Cannot read properties of undefined (reading 'boom')");

/** Makes this step throw an error after it is done, but only once, after a create was sent. */
function throwAt(owner: object, method: string): void {
	const methods = owner as Record<string, (...args: unknown[]) => unknown>;
	const original = methods[method];
	if (original === undefined) throw new Error(`There is no ${method}`);
	let hasThrown = false;
	jest.spyOn(methods, method).mockImplementation(function (this: unknown, ...args) {
		const result = original.apply(this, args);
		if (hasThrown || callsOf('createJob').length === 0) return result;
		hasThrown = true;
		throw boom;
	});
}

const reported = /^Please report the error: \(not shown: contains a secret\)$/;

const node = { ...oneByOne({ maxRetries: 0 }), settings: tries() };
test.each(steps)(
	'An error that the node does not know, when %s after a create, leaves the job uncertain, and no retry creates it again',
	async (_, fault, owner, method) => {
		hurry();
		await fixture.engine.run({ parameters: getAll() });
		pass(2 * MINUTE_MS);
		meets('createJob', ({ nOfOperation }) => (nOfOperation === 1 ? fault : undefined));
		throwAt(owner, method);
		const first = await fixture.engine.run(node, numbered(2));
		expect(first.error?.message).toMatch(/\bmay\b/);
		expect(contextOf(first)).toMatchObject({ jobMayExist: true });
		expect(uncertainIn(first)).toEqual([0]);

		const second = await fixture.engine.retry(first, [node]);
		expect(uncertainIn(second)).toEqual([0]);
		expect(callsOf('createJob').map(itemOf)).toEqual([0, 1]);
	},
);

test.each<[string, INodeParameters, title: string, description: RegExp]>([
	[
		'a create names the job and what to do',
		batch(),
		'This node failed with an error of its own; the job may exist',
		/^Before you run this item again, look on the service for a job named 'Job 0' in namespace 'default'\./,
	],
	['a list asks for a report', getAll(), 'This node failed with an error of its own', reported],
	[
		'a stop asks for a report',
		change('stop', { jobId: 'job-1' }),
		'This node failed with',
		reported,
	],
])('The error of %s, and has no secret', async (_, parameters, title, description) => {
	const { engine, sandbox } = fixture;
	const methods = methodsOf('session/session', 'Session') as { send: () => void };
	jest.spyOn(methods, 'send').mockImplementationOnce(() => {
		throw new Error(`Not ${sandbox.password}`);
	});
	const { error } = await engine.run({ parameters }, numbered(1));
	expect(error?.message).toContain(title);
	expect(error?.description).toMatch(description);
	expect(inspect(error, { depth: 9 })).not.toContain(sandbox.password);
});
