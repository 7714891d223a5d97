// The process of one contender: it gets warm, does its task once, and says what that cost.
import { inspect } from 'node:util';

import { contenders } from '../contenders';
import type { Task } from '../contenders/contender';
import { measure } from './measure';
import type { Request } from './messages';
import { profiled } from './profile';

/** What a contender gets warm on, and how often: n8n's server has run for long when a workflow starts. */
const WARM_UP: Record<Task['kind'], { task: Task; times: number }> = {
	create: { task: { kind: 'create', count: 300, concurrency: 10, paced: true }, times: 1 },
	list: { task: { kind: 'list', pageSize: 1 }, times: 30 },
};

async function answer(request: Request): Promise<void> {
	const { contender, task, measured, warmUp, profile } = request;
	const perform = await contenders[contender].load();
	const { task: warmUpTask, times } = WARM_UP[task.kind];
	for (let time = 0; time < times; time += 1) await perform(warmUpTask, warmUp);

	const work = async () => await perform(task, measured);
	const cost = await measure(
		profile === undefined ? work : async () => await profiled(profile, work),
		request,
	);
	process.send?.(cost, () => process.exit());
}

process.on('message', (request: Request) => {
	answer(request).catch((error: unknown) => {
		process.stderr.write(`${request.contender}: ${inspect(error)}\n`);
		process.exit(1);
	});
});
