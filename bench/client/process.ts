// The process of one contender: it warms up, does its task once, and reports what that cost.
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

import type { INodeExecutionData } from 'n8n-workflow';

import { Engine } from '../../test/support/run';
import type { Task } from '../case';
import { contenders } from '../contenders';
import { Credentials } from '../engine/credentials';
import { runNode } from '../engine/run';
import { measure } from './measure';
import type { Request, Sample } from './messages';
import { Sent } from './sent';

/** n8n's server has run for long when a workflow starts. */
const warmUps: Record<Task['kind'], { task: Task; times: number }> = {
	create: { task: { kind: 'create', count: 500 }, times: 2 },
	list: { task: { kind: 'list', count: 6, pageSize: 1 }, times: 30 },
};

async function answer(request: Request): Promise<Sample> {
	const { task, measured, warmUp, longestSeconds } = request;
	const engine = await Engine.load(Credentials);
	const use = ({ url: baseUrl, userName, password }: typeof measured) =>
		engine.saveCredential({ baseUrl, userName, password });
	const perform = async (what: Task, target: typeof measured) => {
		const node = contenders[request.contender](what, target);
		const items = itemsOf(what);
		if (what.kind === 'list' || what.isOneEach !== true) return await runNode(engine, node, items);
		const outputs = items.map(async (item) => await runNode(engine, node, [item]));
		return (await Promise.all(outputs)).flat();
	};
	const { task: warmUpTask, times } = warmUps[task.kind];
	const isOneEach = task.kind === 'create' && task.isOneEach;
	use(warmUp);
	for (let time = 0; time < times; time += 1) {
		await perform({ ...warmUpTask, ...(isOneEach && { isOneEach }) }, warmUp);
	}

	use(measured);
	// Else each execution of a plain credential would log in.
	if (isOneEach) await perform({ kind: 'create', count: 1 }, measured);
	const sent = new Sent();
	const { result, cost } = await measure(async () => {
		const tooLong = sleep(longestSeconds * 1_000, undefined, { ref: false });
		return await Promise.race([perform(task, measured), tooLong]);
	});
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

function outcomeOf(output: INodeExecutionData[], task: Task) {
	// The HTTP Request node puts out pages.
	const results = output.flatMap(({ json }) => (Array.isArray(json.items) ? json.items : [json]));
	if (results.length !== task.count) {
		throw new Error(`gave ${results.length} results instead of ${task.count}`);
	}
	const errors = output.map(({ json }) => json.error).filter((error) => error !== undefined);
	const isUncertain = (error: object) => 'jobMayExist' in error && error.jobMayExist === true;
	const mayExist = errors.filter((error) => isUncertain(Object(error))).length;
	return { results: results.length, failed: errors.length, mayExist };
}

process.on('message', (request: Request) => {
	answer(request).then(
		(sample) => process.send?.(sample, () => process.exit()),
		(error: unknown) => {
			process.stderr.write(`${request.contender}: ${inspect(error)}\n`);
			process.exit(1);
		},
	);
});
