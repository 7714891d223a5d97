import type { Execution, N8nApi, SavedWorkflow, WorkflowNode } from './api';
import { Problem } from './problem';
import { waitFor } from './wait';

/** The statuses of an execution that goes on (ExecutionStatus in n8n-workflow). */
const unfinished = ['new', 'running', 'waiting', 'unknown'];

/** Seconds ahead for which the trigger is set: the time that n8n has to activate the workflow. */
const lead = 3;

/** A second more than a minute: a trigger that was activated too late fires in the minute after. */
const timeout = 75_000;

/**
 * Runs a workflow once by its real Schedule Trigger: sets the trigger for a few seconds from now,
 * activates the workflow, waits for its execution to end, and puts everything back as it was.
 * @returns the execution, whichever way it ended
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
 * The trigger set for a second of the minute that is near. It would fire again a minute later, which
 * leaves ample time to deactivate it, and says nothing of the hour, a matter of time zones.
 */
function firingSoon(node: WorkflowNode): WorkflowNode {
	if (node.type !== 'n8n-nodes-base.scheduleTrigger') return node;
	const second = (new Date().getSeconds() + lead) % 60;
	const rule = { interval: [{ field: 'cronExpression', expression: `${second} * * * * *` }] };
	return { ...node, parameters: { ...node.parameters, rule } };
}

/** What can be changed of a workflow by saving it. */
function contents({ name, nodes, connections, settings }: SavedWorkflow) {
	return { name, nodes, connections, ...(settings && { settings }) };
}
