import type { Fault, Verb } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, numbered } from '../support/fixture';
import { hurry } from '../support/hurry';
import { verbs } from '../support/operations';
import { continuing, errorsIn, itemOf, useBatch } from './batch';

/*
 * If only a part of the service works, the node does what that part makes possible. A part that fails doesn't stop the
 * others for good.
 */

const { fixture } = useBatch();

const noTemplate = answer(500, { message: 'no such template' });

/** Runs the creates of some items, and returns their errors. */
const run = async (count: number) =>
	errorsIn(await fixture.engine.run(continuing(), numbered(count)));

// pace/rules.test.ts has the other failures of health checks.
test.each<[end: string, fault: Fault, seconds: number]>([
	['401', answer(401), 15],
	['a page', { kind: 'html', when: 'beforeActing' }, 5],
	['no answer', { kind: 'stall', when: 'beforeActing' }, 60],
	['429', answer(429), 60],
])(
	'If two creates fail, and the list of work clusters always ends in %s, all others are made, and all of the next execution',
	async (_, fault, latest) => {
		const { orRunOut, skippedMs } = hurry();
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'listClusters') return orRunOut(fault);
			const isFirst = call.operation === 'createJob' && call.nOfOperation <= 22;
			return isFirst && [3, 4].includes(itemOf(call)) ? noTemplate : undefined;
		});
		expect(await run(22)).toMatchObject(new Array(2).fill({ error: { jobMayExist: true } }));
		expect(skippedMs()).toBeLessThan(latest * 1_000);
		expect(await run(5)).toEqual([]);
		expect(fixture.sandbox.store.jobs.size).toBe(25);
	},
);

test.each<[end: string, fault: Fault]>([
	['500', answer(500)],
	['502', answer(502)],
	['429', answer(429)],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
])(
	'If a verb always fails with %s, another verb and the creates work, at the same time and afterwards',
	async (_, fault) => {
		const [failing, other] = verbs as [Verb, Verb];
		/** Runs a verb for three jobs, and returns their errors. */
		const changed = async (verb: Verb) => {
			const jobs = [];
			for (let n = 0; n < 3; n += 1) jobs.push(await fixture.newJob(verb));
			const node = { ...continuing(), parameters: change(verb, { jobId: '={{ $json.uid }}' }) };
			const given = jobs.map(({ uid }) => ({ uid }));
			return errorsIn(await fixture.engine.run(node, given));
		};
		const { orRunOut } = hurry();
		fixture.meets('changeJobState', ({ path }) =>
			path.endsWith(`/${failing}`) ? orRunOut(fault) : undefined,
		);
		const [failed, ...worked] = await Promise.all([changed(failing), changed(other), run(5)]);
		expect(failed).toHaveLength(3);
		expect([...worked, await changed(other), await run(5)].flat()).toEqual([]);
	},
);

test.each([
	['a schedule', 'trigger', 65, 90],
	['the editor', 'manual', 1, 5],
] as const)(
	'In an execution that %s has started, a service that has not answered before is waited for %s: %i to %i s',
	async (_, mode, least, most) => {
		const { skippedMs } = hurry();
		fixture.engine.mode = mode;
		fixture.engine.editCredential({ baseUrl: 'http://127.0.0.1:9' });
		const { error } = await fixture.engine.run({ parameters: create() }, numbered(2));
		expect(error?.message).toBe("The service at http://127.0.0.1:9 can't be reached");
		expect(skippedMs()).toBeGreaterThan(least * 1_000);
		expect(skippedMs()).toBeLessThan(most * 1_000);
	},
);
