import type { WorkflowNode } from '../../host/api';
import { inARow, node, rows, webhook } from '../../host/workflow';
import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { publish, useHost } from './host';
import { createNode, endedOf, planCreates, subWorkflow } from './workflows';

/*
 * In a real n8n, the examples for failed workflows name and stop the jobs that a failed workflow has left behind.
 */

const host = useHost('errorWorkflows');

const refused = answer(400, { message: 'no such template' });
const uncertain: Fault = { kind: 'break', when: 'afterActing' };
const create = createNode('=Report for {{ $json.customer }}', { options: { concurrency: 1 } });
const reports = [...rows('[{ "customer": "Alder" }, { "customer": "Birch" }]'), create];
const foreign = node('Check', 'n8n-nodes-base.stopAndError', {
	errorMessage: 'The disk is full',
});

/** Returns the nodes of a workflow whose sub-workflow has these nodes. */
const inSubWorkflow = async (nodes: WorkflowNode[]) => [(await subWorkflow(host, nodes)).execute];

/** What a test plans, and what the error workflow then does. */
interface Case {
	/** The faults of the creates, by the names of their jobs. */
	faults: Record<string, Fault>;
	/** The nodes behind Create. */
	then?: WorkflowNode[];
	/** The message of notify-of-uncertain-jobs, in which U stands for the ID of Alder's job. */
	notified: [subject: RegExp, text: RegExp];
	/** The states of the jobs after stop-what-a-failed-batch-created. */
	stopped: string[];
	/** The error in which stop-what-a-failed-batch-created ends. */
	fails?: RegExp;
}
const cases: Array<[what: string, Case]> = [
	[
		'says which jobs exist and which may exist, and stops the former',
		{
			faults: { 'Report for Birch': uncertain },
			notified: [
				/^Workflow 'Nightly reports' failed: 1 of \d jobs were created, 1 more may exist; item 1 failed: /,
				/^May exist, look for it: 'Report for Birch' in namespace 'default'\nExists: 'Report for Alder' in namespace 'default', ID U$/,
			],
			stopped: ['stopped', 'running'],
		},
	],
	[
		'says that no job was left behind, and stops none, if the error says so',
		{
			faults: { 'Report for Alder': refused, 'Report for Birch': refused },
			notified: [
				/^Workflow 'Nightly reports' failed: .*no such template/,
				/^The node that failed leaves no job behind\. Nodes before it may have created jobs\.$/,
			],
			stopped: [],
		},
	],
	[
		"says that the jobs aren't known after the error of another node, and stops none",
		{
			faults: {},
			then: [foreign],
			notified: [
				/^Workflow 'Nightly reports' failed: The disk is full$/,
				/^It isn't known which jobs exist: this error has no list of jobs\. See the execution( of the sub-workflow, \d+)?\.$/,
			],
			stopped: ['running', 'running'],
			fails:
				/^Say that it is not known: It isn't known which jobs 'Nightly reports' has created: its error has no list of jobs/,
		},
	],
];

/**
 * Starts a workflow that has an example as its error workflow by a webhook, and makes some of its creates fail.
 *
 * @returns the end of the error workflow, and the address of the failed execution
 */
async function handled(example: string, nodes: WorkflowNode[], faults: Case['faults']) {
	const handler = await host.example(example);
	await host.api.activate(handler);
	const { id: errorWorkflow } = handler;
	const count = (await host.api.executions(errorWorkflow)).length + 1;
	const path = `fails-${count}-${errorWorkflow}`;
	const workflow = inARow('Nightly reports', [webhook(path), ...nodes]);
	workflow.settings = { ...workflow.settings, errorWorkflow };
	const failing = await publish(host.api, workflow);
	planCreates(host.sandbox, faults);
	await fetch(`${host.url}/webhook/${path}`, { method: 'POST' });
	const [failed] = await endedOf(host, failing.id);
	expect(failed?.status).toBe('error');
	const [end] = await endedOf(host, errorWorkflow, count);
	const url = `${host.url}/workflow/${failing.id}/executions/${failed?.id}`;
	return { url, message: end?.output['Send the message']?.[0], ...end };
}

const stop = 'stop-what-a-failed-batch-created.json';
const notify = 'notify-of-uncertain-jobs.json';

describe.each<[where: string, place: (nodes: WorkflowNode[]) => Promise<WorkflowNode[]>]>([
	['a workflow', async (nodes) => await Promise.resolve(nodes)],
	['the parent of a sub-workflow', inSubWorkflow],
])('The error workflow of %s that failed', (_, place) => {
	test.each(cases)('%s', async (__, { faults, then = [], notified, stopped, fails }) => {
		const nodes = await place([...reports, ...then]);
		const { jobs } = host.sandbox.store;
		const before = jobs.size;
		const { message, url } = await handled(notify, nodes, faults);
		const [lastLine, ...lines] = String(message?.['text']).split('\n').reverse();
		const text = lines
			.reverse()
			.join('\n')
			.replace(String([...jobs.keys()][before]), 'U');
		expect(message?.['subject']).toMatch(notified[0]);
		expect(text).toMatch(notified[1]);
		expect(lastLine).toBe(url);

		const { status, error, ...end } = await handled(stop, nodes, faults);
		const states = [...jobs.values()].slice(before).map(({ state }) => state);
		expect(states).toEqual([...stopped.map(() => 'running'), ...stopped]);
		expect(status).toBe(fails ? 'error' : 'success');
		expect(error ?? '').toMatch(fails ?? /^$/);
		if (fails) expect(error).toContain(end.url);
	});
});

test("An error workflow says that the jobs aren't known if n8n passes on no list from a sub-workflow of a sub-workflow", async () => {
	const nodes = await inSubWorkflow(await inSubWorkflow(reports));
	const { message } = await handled(notify, nodes, { 'Report for Birch': uncertain });
	expect(message?.['text']).toMatch(/^It isn't known which jobs exist/);
});
