import type { Say } from '../../host/steps';
import type { Case } from '../case';
import type { Request, Sample } from '../client/messages';
import type { ContenderName } from '../contenders/names';
import { withService } from '../service/start';
import { ask, startProcess } from './childProcess';

const LONGEST_SECONDS = 120;
const LONGEST_WARM_UP_SECONDS = 60;

/** The samples of each contender, or why it has none. */
export interface Measured {
	of: Case;
	samples: Partial<Record<ContenderName, Sample[]>>;
	problems: Partial<Record<ContenderName, string>>;
}

/**
 * Measures a case in rounds, the contenders in turn. One that fails is not measured again.
 * @param node the executable that contenders and services run on
 */
export async function measure(of: Case, node: string, say: Say): Promise<Measured> {
	const measured: Measured = { of, samples: {}, problems: {} };
	for (let round = 1; round <= of.rounds; round += 1) {
		for (const contender of of.contenders) {
			if (measured.problems[contender] !== undefined) continue;
			say(`round ${round} of ${of.rounds}, ${contender}`);
			try {
				(measured.samples[contender] ??= []).push(await sample(of, contender, node));
			} catch (error) {
				measured.problems[contender] = error instanceof Error ? error.message : String(error);
			}
		}
	}
	return measured;
}

/** Measures a contender once, in a new process, at a new service. */
async function sample(
	{ task, service }: Case,
	contender: ContenderName,
	node: string,
): Promise<Sample> {
	return await withService(service, node, async (opened) => {
		const child = startProcess('client/process.ts', node);
		const request: Request = { contender, task, longestSeconds: LONGEST_SECONDS, ...opened };
		return await ask<Sample>(child, request, LONGEST_SECONDS + LONGEST_WARM_UP_SECONDS);
	});
}
