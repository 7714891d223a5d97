import type { Execution, N8nApi, SavedWorkflow, WorkflowNode } from './api';
import { Problem } from './problem';
import { waitFor } from './wait';

/** The statuses of an execution that hasn't ended (see ExecutionStatus in n8n-workflow). */
const unfinished = ['new', 'running', 'waiting', 'unknown'];

/** Seconds until the trigger is to fire. n8n must activate the workflow within this time. */
const lead = 3;

/** Milliseconds to wait for the execution. If n8n activates the trigger too late, it fires a minute later. */
const timeout = 75_000;

/**
 * Runs a workflow once by its Schedule Trigger: sets the trigger to fire in a few seconds, activates the workflow,
 * waits until its execution ends, deactivates the workflow, and restores its contents.
 * @returns the execution, which may have failed
 * @throws Problem if no execution has ended in time
 * @throws Stopped if the signal was aborted
 */
export async function runByItsSchedule(
	api: N8nApi,
	workflow: SavedWorkflow,
	signal?: AbortSignal,
): Promise<Execution> {
	const before = new Set((await api.executions(workflow.id)).map(({ id }) => id));
	const soon = await api.changeWorkflow(workflow.id, {
		...contents(workflow),
		nodes: workflow.nodes.map(firingSoon),
	});
	try {
		await api.activate(soon);
		const newExecution = async () =>
			(await api.executions(workflow.id)).find(
				({ id, status }) => !before.has(id) && !unfinished.includes(status),
			);
		const execution = await waitFor(newExecution, { timeout, signal });
		if (!execution) {
			throw new Problem(
				`The Schedule Trigger of '${workflow.name}' did not fire, or its run did not end.`,
			);
		}
		return execution;
	} finally {
		await api.deactivate(workflow.id);
		await api.changeWorkflow(workflow.id, contents(workflow));
	}
}

/**
 * Returns a Schedule Trigger that fires in a few seconds, and any other node unchanged. The trigger fires every minute,
 * which leaves enough time to deactivate it. A rule with an hour would depend on the time zone.
 */
function firingSoon(node: WorkflowNode): WorkflowNode {
	if (node.type !== 'n8n-nodes-base.scheduleTrigger') return node;
	const second = (new Date().getSeconds() + lead) % 60;
	const rule = { interval: [{ field: 'cronExpression', expression: `${second} * * * * *` }] };
	return { ...node, parameters: { ...node.parameters, rule } };
}

/** Returns the fields of a workflow that can be saved. */
function contents({ name, nodes, connections, settings }: SavedWorkflow) {
	return { name, nodes, connections, ...(settings && { settings }) };
}
