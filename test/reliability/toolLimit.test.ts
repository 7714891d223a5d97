import { sleep } from 'n8n-workflow';

import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { create, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { tries } from './batch';

/*
 * A tool sends nothing more once 45 seconds have passed since its call. The client of an MCP server usually gives up a
 * call after a minute, and its model calls the tool again: a job that is created later would be a second one.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

const tool = { parameters: create({ options: { timeout: 3_000 } }) };

const throttled = (retryAfter: number) =>
	answer(429, { message: 'The namespace is full' }, { 'retry-after': String(retryAfter) });

/**
 * Makes an agent call the tool.
 *
 * @returns the response of the tool, and how many seconds it took by the clock of the node
 */
async function call() {
	const began = performance.now();
	const { answers } = await fixture.engine.callTool(tool, [{}]);
	return { answer: answers[0], seconds: (performance.now() - began) / 1_000 };
}

const jobs = () => [...fixture.sandbox.store.jobs.values()];

test('A tool that would have to wait for a minute fails at once, and its error quotes the service', async () => {
	meets('createJob', ({ nOfOperation }) => (nOfOperation === 1 ? throttled(60) : undefined));
	const { answer: said } = await call();
	expect(said).toMatch(/^Error: .*too many requests.*The namespace is full/s);
	expect(jobs()).toHaveLength(0);
	expect(callsOf('createJob')).toHaveLength(1);
});

test.each<[string, PlannedCall['operation'], Fault]>([
	['is throttled repeatedly', 'createJob', throttled(20)],
	['is throttled without a Retry-After', 'createJob', answer(429, { message: 'full' })],
	['has to wait for a login', 'login', throttled(20)],
])(
	'A tool that %s gives up within 45 seconds in all, and creates nothing',
	async (_, of, fault) => {
		hurry();
		meets(of, () => fault);
		const { answer: said, seconds } = await call();
		expect(seconds).toBeLessThan(46);
		expect(said).toMatch(/^Error: /);
		expect(said).not.toMatch(/may exist/);
		expect(jobs()).toHaveLength(0);
	},
);

test('A tool that cannot reach a service that has answered before also gives up within 45 seconds', async () => {
	await fixture.engine.callTool(tool, [{}]);
	hurry();
	await fixture.sandbox.goAway();
	const { answer: said, seconds } = await call();
	expect(seconds).toBeGreaterThan(30);
	expect(seconds).toBeLessThan(46);
	expect(said).toMatch(/^Error: .*can't be reached/);
	await fixture.sandbox.comeBack();
	expect(jobs()).toHaveLength(1);
});

test('All tries of Retry On Fail share the 45 seconds, and the last one quotes the service', async () => {
	hurry();
	meets('createJob', () => throttled(20));
	const began = performance.now();
	const { answers } = await fixture.engine.callTool({ ...tool, settings: tries(4) }, [{}, {}]);
	// The agent makes two calls.
	expect((performance.now() - began) / 1_000).toBeLessThan(2 * 46);
	for (const said of answers) expect(said).toMatch(/too many requests.*The namespace is full/s);
	expect(jobs()).toHaveLength(0);
});

test('A tool that waits for less than 45 seconds creates its job, and waits for the response to a create that it sent in time', async () => {
	hurry();
	const late = { kind: 'wait', when: 'afterActing' } as const;
	meets('createJob', ({ nOfOperation }) =>
		nOfOperation <= 2 ? throttled(22) : { ...late, until: sleep(1_200) },
	);
	const { answer: said, seconds } = await call();
	expect(seconds).toBeGreaterThan(45);
	expect(said).toContain('"displayName":"Report"');
	expect(jobs()).toHaveLength(1);
});
