import type { StoredJob } from '../sandbox';
import type { Execution, SavedWorkflow } from './api';
import type { ExecutionResult } from './executionResult';
import { exampleTag, firstExample } from './examples';
import type { Host } from './host';
import { Problem } from './problem';
import { runByItsSchedule } from './scheduledRun';

/** The outcome of running the first example. */
export interface FirstRun {
	workflow: SavedWorkflow;
	execution: Execution;
	result: ExecutionResult;
	/** The jobs that this run has created in the sandbox. */
	jobs: StoredJob[];
}

/**
 * Runs a copy of the first example once, by its Schedule Trigger. Doesn't change the example, which the user may edit.
 */
export async function firstRun(
	{ api, examples, sandbox }: Pick<Host, 'api' | 'examples' | 'sandbox'>,
	signal?: AbortSignal,
): Promise<FirstRun> {
	const example = examples.get(firstExample);
	if (!example) throw new Problem(`examples/${firstExample} is missing.`);
	const { nodes, connections, settings } = example;
	const name = `${example.name}: first run`;
	const tags = [await api.tagId(exampleTag)];
	const copy = { name, nodes, connections, tags, ...(settings && { settings }) };
	const workflow = await api.createWorkflow(copy);
	const before = new Set(sandbox.store.jobs.keys());
	const execution = await runByItsSchedule(api, workflow, signal);
	const result = await api.executionResult(execution.id);
	const jobs = [...sandbox.store.jobs.values()].filter(({ uid }) => !before.has(uid));
	return { workflow, execution, result, jobs };
}
