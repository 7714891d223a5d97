// The process of a contender. It warms up, does the task once, and returns the measured values.
import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeExecutionData } from 'n8n-workflow';
import { worker } from 'workerpool';

import { Engine } from '../../test/support/run';
import type { Target, Task } from '../case';
import { contenders } from '../contenders';
import type { ContenderName } from '../contenders/names';
import { Credentials } from '../engine/credentials';
import { runNode } from '../engine/run';
import { measure } from './measure';
import { Sent } from './sent';

/** The tasks for the warm-up. In production, n8n has usually been running for a long time when a workflow starts. */
const warmUps: Record<Task['kind'], { task: Task; times: number }> = {
	create: { task: { kind: 'create', count: 500 }, times: 2 },
	list: { task: { kind: 'list', count: 6, pageSize: 1 }, times: 30 },
};

/** What the process has to measure. */
interface Request {
	contender: ContenderName;
	task: Task;
	/** The service for the measured task. */
	measured: Target;
	/** The service for the warm-up. */
	warmUp: Target;
	/** Milliseconds after which the measurement ends, even if the task isn't done. */
	longestMs: number;
}

/** The measured values and, if the task was done in time, its outcome. */
export type Sample = Awaited<ReturnType<typeof perform>>;

export async function perform({ contender, task, measured, warmUp, longestMs }: Request) {
	const engine = await Engine.load(Credentials);
	const use = ({ url: baseUrl, userName, password }: Target) =>
		engine.saveCredential({ baseUrl, userName, password });
	const run = async (what: Task, target: Target) => {
		const node = contenders[contender](what, target);
		const items = itemsOf(what);
		if (what.kind === 'list' || what.isOneEach !== true) return await runNode(engine, node, items);
		const outputs = items.map(async (item) => await runNode(engine, node, [item]));
		return (await Promise.all(outputs)).flat();
	};
	const { task: warmUpTask, times } = warmUps[task.kind];
	const isOneEach = task.kind === 'create' && task.isOneEach;
	use(warmUp);
	for (let time = 0; time < times; time += 1) {
		await run({ ...warmUpTask, ...(isOneEach && { isOneEach }) }, warmUp);
	}

	use(measured);
	// Creates a job to log in. Otherwise, each execution with a plain credential would log in.
	if (isOneEach) await run({ kind: 'create', count: 1 }, measured);
	const sent = new Sent();
	const { result, cost } = await measure(async () => {
		const tooLong = sleep(longestMs, undefined, { ref: false });
		return await Promise.race([run(task, measured), tooLong]);
	});
	// After longestMs, there is no result and therefore no outcome.
	return { ...cost, ...sent.figures, ...(result && outcomeOf(result, task)) };
}

function itemsOf(task: Task): INodeExecutionData[] {
	if (task.kind === 'list') return [{ json: {} }];
	const { count, namespaces } = task;
	return Array.from({ length: count }, (_, n) => ({
		json: { n, ...(namespaces && { namespace: namespaces[n] }) },
		pairedItem: { item: n },
	}));
}

/**
 * Counts the jobs or clusters in the output, the items that failed, and the failed items whose job may exist.
 * @throws Error if the output doesn't contain one result for each job or cluster of the task
 */
function outcomeOf(output: INodeExecutionData[], task: Task) {
	// The HTTP Request node outputs an item for each page of a list.
	const results = output.flatMap(({ json }) => (Array.isArray(json.items) ? json.items : [json]));
	if (results.length !== task.count) {
		throw new Error(`gave ${results.length} results instead of ${task.count}`);
	}
	const errors = output.map(({ json }) => json.error).filter((error) => error !== undefined);
	const isUncertain = (error: object) => 'jobMayExist' in error && error.jobMayExist === true;
	const mayExist = errors.filter((error) => isUncertain(Object(error))).length;
	return { results: results.length, failed: errors.length, mayExist };
}

worker({ perform });
