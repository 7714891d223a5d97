import type { INode } from 'n8n-workflow';

import type { Fault, PlannedCall, When } from '../../sandbox';
import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { contextOf, continuing, errorsIn, tries, turns } from './batch';

/*
 * Timeout limits each request as a whole, also a response that begins in time but never ends. The timeout of n8n's HTTP
 * client doesn't limit such responses. An error names the time that was waited for.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;
const stall: Fault = { kind: 'stall', when: 'beforeActing' };

const options = { maxRetries: 0, timeout: 200 };

test.each([
	['a create', create({ options }), true],
	['a state change', change('stop', { jobId: 'a-job', options }), false],
	['a list', getAll({ options }), false],
] as const)(
	'The execution of %s ends at Timeout if its response arrives in small parts',
	async (_, parameters, mayExist) => {
		// The login also has to be over in time.
		await fixture.succeeds(getAll());
		fixture.sandbox.clearCalls();
		fixture.meets('others', { kind: 'drip', when: 'afterActing' });
		// Without the limit, this would take a minute, which is longer than a test may take.
		const result = await fixture.engine.run({ parameters });
		expect(result.error?.message).toContain("The service didn't answer within 0.2 s");
		expect(contextOf(result).jobMayExist).toBe(mayExist);
		expect(fixture.sandbox.calls).toHaveLength(1);
	},
);

test.each([2 ** 31, 1e15])('A Timeout of %s ms does not end at once', async (timeout) => {
	await fixture.succeeds(getAll({ options: { maxRetries: 0, timeout } }));
});

test.each([
	['fail', answer(500)],
	['get no answer', stall],
])(
	'A create that is not sent, because others %s and a health check gets no answer, names the ten seconds of the health check and not the option Timeout',
	async (_, fault) => {
		const { orRunOut } = hurry();
		meets('others', ({ operation }) => orRunOut(operation === 'createJob' ? fault : stall));
		const node = continuing({ concurrency: 1, maxRetries: 0 });
		const [error] = errorsIn(await fixture.engine.run(node, numbered(4))).slice(-1);
		expect(error).toMatchObject({
			message: "Not sent: the service doesn't answer",
			error: { jobMayExist: false },
		});
		const { description } = Object(error?.error);
		expect(description).toMatch(
			/^Try again later\. If that doesn't help, ask the administrator of the service\.\n\nAnother request failed: The service didn't answer within 10 s\.$/m,
		);
		expect(description).not.toContain("'Timeout'");
	},
);

/*
 * A tool sends nothing more once 45 seconds have passed since its call. The client of an MCP server usually gives up a
 * call after a minute, and its model calls the tool again: a job that is created later would be a second one.
 */

const tool = { parameters: create({ options: { timeout: 3_000 } }) };

const throttled = (retryAfter: number) =>
	answer(429, { message: 'The namespace is full' }, { 'retry-after': String(retryAfter) });

/**
 * Makes an agent call the tool.
 *
 * @returns the response of the tool, and how many seconds the node has waited. The time that this machine needs doesn't
 * count
 */
async function call({ skippedMs }: Limits, settings: Partial<INode> = {}) {
	const { answers } = await fixture.engine.callTool({ ...tool, settings }, [{}]);
	return { answer: answers[0], seconds: skippedMs() / 1_000 };
}

/** Delays a call: seven seconds pass before the service answers. */
const slowly = ({ advance }: Limits, when: When): Fault => {
	const until = new Promise<void>((resolve) => {
		setImmediate(() => {
			advance(7_000);
			resolve();
		});
	});
	return { kind: 'wait', when, until };
};

const jobs = () => [...fixture.sandbox.store.jobs.values()];

const tooMany = /^Error: The service is receiving too many requests: /;

test.each<[string, PlannedCall['operation'], Fault, says: RegExp, settings?: Partial<INode>]>([
	['would have to wait for a minute', 'createJob', throttled(60), /: The namespace is full/],
	['is throttled repeatedly', 'createJob', throttled(20), tooMany],
	['is throttled without a Retry-After', 'createJob', answer(429, { message: 'full' }), tooMany],
	['has to wait for a login', 'login', throttled(20), tooMany],
	['gets no answer to its login', 'login', stall, /didn't answer the login within 3 s/],
	['is tried again', 'createJob', throttled(20), /too many.*The namespace is full/s, tries(4)],
])(
	'A tool that %s gives up within 45 seconds in all, and creates nothing',
	async (...[, of, fault, says, settings]) => {
		const limits = hurry();
		meets(of, () => limits.orRunOut(fault));
		const { answer: said, seconds } = await call(limits, settings);
		expect(seconds).toBeLessThanOrEqual(45);
		expect(said).toMatch(says);
		expect(said).not.toMatch(/may exist/);
		expect(jobs()).toHaveLength(0);
	},
);

test('A tool that cannot reach a service that has answered before also gives up within 45 seconds', async () => {
	await fixture.engine.callTool(tool, [{}]);
	const limits = hurry();
	await fixture.sandbox.goAway();
	const { answer: said, seconds } = await call(limits);
	expect(seconds).toBeGreaterThan(30);
	expect(seconds).toBeLessThanOrEqual(45);
	expect(said).toMatch(/^Error: .*can't be reached/);
	await fixture.sandbox.comeBack();
	expect(jobs()).toHaveLength(1);
});

test('A tool that waits for less than 45 seconds creates its job, and waits for the response to a create that it sent in time', async () => {
	const limits = hurry();
	meets('createJob', ({ nOfOperation }) =>
		nOfOperation <= 2 ? throttled(20) : slowly(limits, 'afterActing'),
	);
	const { answer: said, seconds } = await call(limits);
	expect(seconds).toBeGreaterThan(45);
	expect(said).toContain('"displayName":"Report"');
	expect(jobs()).toHaveLength(1);
});

test('A tool sends nothing after its 45 seconds, even if an old token is left that may have expired', async () => {
	await fixture.engine.run({ parameters: create() });
	pass(2 * MINUTE_MS);
	meets('createJob', answer(500));
	await fixture.engine.run({ parameters: create() });
	fixture.sandbox.clearCalls();
	const { orRunOut } = hurry();
	meets('login', () => orRunOut(stall));
	const { answers } = await fixture.engine.callTool({ parameters: create() }, [{}]);
	expect(answers[0]).toContain('The 45 seconds of this tool call are over');
	expect(callsOf('createJob')).toEqual([]);
});

test('A tool does not log in after its 45 seconds, even if its create is refused as if the token had expired', async () => {
	await fixture.engine.run({ parameters: create() });
	pass(2 * MINUTE_MS);
	fixture.sandbox.clearCalls();
	const limits = hurry();
	meets('createJob', ({ nOfOperation }) =>
		nOfOperation <= 2 ? throttled(20) : [slowly(limits, 'beforeActing'), answer(403)],
	);
	const { answer: said, seconds } = await call(limits);
	expect(seconds).toBeGreaterThan(45);
	expect(said).toContain("The user isn't allowed to create the job");
	await turns();
	expect(callsOf('login')).toEqual([]);
});
