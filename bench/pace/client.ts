// The process of one contender: it gets warm, makes its jobs once, and says what that cost and what came of them.
import { inspect } from 'node:util';

import { measure } from '../performance/client/measure';
import type { Cost } from '../performance/client/messages';
import type { Opened } from '../performance/sandbox/messages';
import type { ContenderName } from './contenderNames';
import type { Task } from './contenders';
import { Contenders } from './contenders';

/** What is asked of it. */
export interface Request extends Opened {
	contender: ContenderName;
	task: Task;
}

/** What came of it. */
export interface Answer extends Cost {
	/** Items that ended as errors, and how many of those say that their job may exist. */
	failed: number;
	mayExist: number;
}

/** n8n's server has run for long when a workflow starts. */
const WARM_UP: Task = { count: 500 };

async function answer({ contender, task, measured, warmUp }: Request): Promise<void> {
	const contenders = await Contenders.load();
	const isLoop = contender === 'loopWithWait';
	for (let time = 0; time < 2; time += 1) {
		await contenders.run(isLoop ? 'httpRequest' : contender, WARM_UP, warmUp);
	}

	let failed = 0;
	let mayExist = 0;
	const cost = await measure(
		async () => {
			const output = await contenders.run(contender, task, measured);
			const errors = output.filter(({ json }) => json.error !== undefined);
			failed = errors.length;
			mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
			return output;
		},
		{ watchHeap: false },
	);
	process.send?.({ ...cost, failed, mayExist }, () => process.exit());
}

process.on('message', (request: Request) => {
	answer(request).catch((error: unknown) => {
		process.stderr.write(`${request.contender}: ${inspect(error)}\n`);
		process.exit(1);
	});
});
