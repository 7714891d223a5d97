import type { INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { numbered } from '../support/fixture';
import type { NodeOptions, Result } from '../support/run';
import { batch, brokenAfter, refused, useBatch } from './batch';

/*
 * What the error of a batch of six says: what happened, what to do, what is missing, what may exist, and what exists.
 */

const { fixture } = useBatch();

const node = (parameters: INodeParameters = {}, options: INodeParameters = {}): NodeOptions => ({
	parameters: { ...batch({ concurrency: 1, ...options }), ...parameters },
});

/** Runs a batch whose creates meet these faults, by their order; the login after the first meets another. */
async function run(of: NodeOptions, faults: Record<number, Fault>, login?: Fault): Promise<Result> {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob'
			? faults[nOfOperation - 1]
			: operation === 'login' && nOfOperation > 1
				? login
				: undefined,
	);
	return await fixture.engine.run(of, numbered(6));
}

const broken = 'The connection broke before the answer was complete; the job may exist';
const lookFor = (n: number) =>
	`Before you run this item again, look on the service for a job named 'Job ${n}' in namespace 'default'. The request had been sent, and the node didn't resend it, so that no job is created twice.`;
const option = "turn on 'Create Again If Uncertain' in this node's Options.";
const wrong =
	'Correct a wrong value in this node, not before it: Retry keeps the items as they came.';
const retry = 'To continue, use Retry in the list of executions';
const saved = `${retry}, with the currently saved workflow`;
const only = 'it creates only the missing jobs.';
const again = "Don't execute this node again: that creates every job again.";
const created = (...items: number[]) =>
	[
		`Jobs already created (${items.length}) in namespace 'default':`,
		...items.map((item) => `• item ${item}: ID ('Job ${item}')`),
	].join('\n');

const tries = { settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 } };
const lost = { 3: brokenAfter };

/** What happened, then the title, what to do, and the lists. */
const cases: Array<[string, () => Promise<Result>, string[]]> = [
	[
		'nothing was sent',
		async () => await run(node({ group: '={{ $json.n < 3 ? [] : "" }}' }), {}),
		[
			"Nothing was sent. 'Group' is a list, not text, for items 0 to 2 (counted from 0).",
			'Enter text. If the field holds an expression, make it refer to a single value of the item.',
		],
	],
	[
		'one item is refused',
		async () => await run(node(), { 3: refused }),
		[
			'Job not created for item 3 (counted from 0); 3 of 6 jobs were created: no',
			`Check this node's fields. ${wrong} ${saved}: ${only} ${again}`,
			'Without a job: items 3 to 5.',
			created(0, 1, 2),
		],
	],
	[
		'one is uncertain',
		async () => await run(node(), lost),
		[
			`Failed at item 3 (counted from 0); 3 of 6 jobs certainly exist, 1 may: ${broken}`,
			`${lookFor(3)} If there is no such job, ${option} ${saved}: ${only} ${again}`,
			'Without a job: items 4 and 5.',
			created(0, 1, 2),
		],
	],
	[
		'several are uncertain, all tries used up',
		async () => await run({ ...node(), ...tries }, { 1: brokenAfter, 3: brokenAfter }),
		[
			`Failed at item 1 (counted from 0); 4 of 6 jobs certainly exist, 2 may: ${broken}`,
			`${lookFor(1)} Look on the service for each job listed below that may exist. For items without one, ${option} ${saved}: ${only} ${again}`,
			"Jobs that may exist (2) in namespace 'default':\n• item 1: 'Job 1'\n• item 3: 'Job 3'",
			created(0, 2, 4, 5),
		],
	],
	[
		'the batch broke: the login ended, and the next is refused',
		async () => await run(node(), { 3: { kind: 'expireTokens' } }, answer(401)),
		[
			'The username or the password is wrong; 3 of 6 jobs were created',
			`Correct it in the credential. The node tried to log in only once, so that the account isn't locked. ${retry}: ${only} ${again}`,
			'Without a job: items 3 to 5.',
			created(0, 1, 2),
		],
	],
	[
		'a sub-workflow',
		async () => {
			fixture.engine.mode = 'integrated';
			return await run(node(), lost);
		},
		[
			`Failed at item 3 (counted from 0); 3 of 6 jobs certainly exist, 1 may: ${broken}`,
			`${lookFor(3)} If there is no such job, ${option} To continue, use Retry of this sub-workflow's own execution, 1, in the list of executions, with the currently saved workflow: ${only} Don't retry the execution that started it: that creates every job again.`,
			'Without a job: items 4 and 5.',
			created(0, 1, 2),
		],
	],
	[
		'Retry, with the uncertain item as it was',
		async () => await fixture.engine.retry(await run(node(), lost), [node()]),
		[
			`Failed at item 3 (counted from 0); 5 of 6 jobs certainly exist, 1 may: ${broken}`,
			`${lookFor(3)} If there is no such job, ${option} If it exists, set 'On Error' to 'Continue (using error output)'. ${saved}: ${only} ${again}`,
			created(0, 1, 2, 4, 5),
		],
	],
	[
		'Retry, with a wrong value',
		async () => {
			const failed = await run(node(), { 3: refused });
			return await fixture.engine.retry(failed, [node({ displayName: '={{ "" }}' })]);
		},
		[
			"Nothing more was sent. 'Display Name' is empty for items 3 to 5 (counted from 0).",
			expect.stringMatching(
				`^Fill it in\\. .* ${wrong} ${saved}: ${only} ${again}$`,
			) as unknown as string,
			'Without a job: items 3 to 5.',
			created(0, 1, 2),
		],
	],
	[
		'the jobs were terminated',
		async () => await run(node({}, { ifStopped: 'terminate' }), lost),
		[
			`Failed at item 3 (counted from 0); 3 of the 3 created jobs were ended: ${broken}`,
			`${lookFor(3)} If there is no such job, ${option} ${saved}.`,
			'Without a job: items 0 to 2, 4 and 5.',
			created(0, 1, 2).replaceAll("')", "'): terminated"),
		],
	],
	[
		'several namespaces',
		async () => await run(node({ namespace: '=team-{{ $json.n }}' }), { 2: refused }),
		[
			'Job not created for item 2 (counted from 0); 2 of 6 jobs were created: no',
			`Check this node's fields. ${wrong} ${saved}: ${only} ${again}`,
			'Without a job: items 2 to 5.',
			"Jobs already created (2):\n• item 0: ID ('Job 0' in namespace 'team-0')\n• item 1: ID ('Job 1' in namespace 'team-1')",
		],
	],
];

test.each(cases)('%s', async (_, play, expected) => {
	const { error } = await play();
	let description = error?.description ?? '';
	for (const uid of fixture.sandbox.store.jobs.keys()) {
		description = description.replaceAll(uid, 'ID');
	}
	// What the service said, and what was requested, is the same in the error of a single item.
	const [whatToDo = '', ...lists] = description.split('\n\n');
	expect([error?.message, whatToDo.split('\n')[0], ...lists]).toEqual(expected);
});

test('of long names, the beginning is enough', async () => {
	const displayName = '={{ "x".repeat(20000) + $json.n }}';
	const failed = await run(node({ displayName }), { 1: refused, 4: brokenAfter });
	const result = await fixture.engine.retry(failed, [node({ displayName })]);
	for (const { error } of [failed, result]) {
		const { message, description, context } = error as NonNullable<typeof error> & {
			context: object;
		};
		expect(JSON.stringify({ message, description, context })).not.toContain('x'.repeat(101));
	}
});
