// The process of one contender: it gets warm, makes its jobs once, and says what that cost and what came of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

import { measure } from '../performance/client/measure';
import type { Cost } from '../performance/client/messages';
import type { Opened } from '../performance/sandbox/messages';
import type { ContenderName } from './contenderNames';
import { Contenders } from './contenders';
import { Sent } from './sent';
import { services } from './services';

/** What is asked of it. */
export interface Request extends Opened {
	contender: ContenderName;
	/** The name of the service. */
	service: string;
	/** After so many it says what has come of the jobs until then. */
	mostSeconds: number;
}

/** What came of it. */
export interface Answer extends Cost, Pick<Sent, 'atOnce' | 'turnedAway' | 'made' | 'lastMade'> {
	/** Items that ended as errors, and how many of those say that their job may exist; undefined where it took too long. */
	failed?: number;
	mayExist?: number;
}

/** n8n's server has run for long when a workflow starts. */
const WARM_UP = { count: 500 };

async function answer(request: Request): Promise<void> {
	const { contender, measured, warmUp, mostSeconds } = request;
	const task = services.find(({ name }) => name === request.service);
	if (task === undefined) throw new Error(`There is no service ${request.service}`);
	const contenders = await Contenders.load(contender);
	const isLoop = contender === 'loopWithWait';
	for (let time = 0; time < 2; time += 1) {
		await contenders.run(isLoop ? 'httpRequest' : contender, WARM_UP, warmUp);
	}

	let outcome: Pick<Answer, 'failed' | 'mayExist'> = {};
	const sent = new Sent();
	const cost = await measure(
		async () => {
			const tooLong = sleep(mostSeconds * 1_000, undefined, { ref: false });
			const output = await Promise.race([contenders.run(contender, task, measured), tooLong]);
			if (output === undefined) return [];
			const errors = output.filter(({ json }) => json.error !== undefined);
			const mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
			outcome = { failed: errors.length, mayExist };
			return output;
		},
		{ watchHeap: false },
	);
	const { atOnce, turnedAway, made, lastMade } = sent;
	const whole: Answer = { ...cost, ...outcome, atOnce, turnedAway, made, lastMade };
	process.send?.(whole, () => process.exit());
}

process.on('message', (request: Request) => {
	answer(request).catch((error: unknown) => {
		process.stderr.write(`${request.contender}: ${inspect(error)}\n`);
		process.exit(1);
	});
});
