import type { Say } from '../../host/steps';
import type { Case } from '../case';
import type { perform, Sample } from '../client/process';
import type { ContenderName } from '../contenders/names';
import type { open } from '../service/process';
import { withProcess } from './childProcess';

const LONGEST_MS = 120_000;
const LONGEST_WARM_UP_MS = 60_000;
const LONGEST_START_MS = 30_000;

/** The samples of each contender in a case, or the message of the error that ended its measurement. */
export interface Measured {
	of: Case;
	samples: Partial<Record<ContenderName, Sample[]>>;
	problems: Partial<Record<ContenderName, string>>;
}

/**
 * Measures a case. In each round, each contender is measured once. A contender that fails is not measured again.
 * @param node the path of the Node.js that runs the contenders and the services
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
				const { message } = error as Error;
				// If the process has crashed, the first three lines contain the cause.
				measured.problems[contender] = message.split(/\n\s*/, 3).join(', ');
			}
		}
	}
	return measured;
}

/** Measures a contender once, in a new process and with a new service. */
async function sample({ task, service }: Case, contender: ContenderName, node: string) {
	return await withProcess('service/process.ts', node, async (server) => {
		const opened = await server.exec<typeof open>('open', [service]).timeout(LONGEST_START_MS);
		return await withProcess('client/process.ts', node, async (client) => {
			const request = { contender, task, longestMs: LONGEST_MS, ...opened };
			const answer = client.exec<typeof perform>('perform', [request]);
			return await answer.timeout(LONGEST_MS + LONGEST_WARM_UP_MS);
		});
	});
}
