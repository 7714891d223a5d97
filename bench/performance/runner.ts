import { ask, startProcess } from './childProcess';
import type { Cost, Request } from './client/messages';
import type { ContenderName } from './contenders';
import type { Task } from './contenders/contender';
import type { Measured, Sample } from './figures';
import type { Case } from './plan';
import { MOST_SECONDS } from './plan';
import { Sandboxes } from './sandbox/sandboxes';

/** Measures cases: each contender in a process of its own, at a sandbox of its own. */
export class Runner {
	private readonly sandboxes: Sandboxes;

	/** @param node the executable that contenders and sandboxes run on */
	constructor(private readonly node: string) {
		this.sandboxes = new Sandboxes(node);
	}

	/** Does the rounds of a case, all contenders in turn. One that fails once is not asked again. */
	async run(of: Case, say: (detail: string) => void): Promise<Measured> {
		const measured: Measured = { of, samples: {}, problems: {} };
		for (let round = 1; round <= of.rounds; round += 1) {
			for (const contender of of.contenders) {
				if (measured.problems[contender] !== undefined) continue;
				say(`round ${round} of ${of.rounds}, ${contender}`);
				try {
					const sample = await this.measure(of, contender);
					(measured.samples[contender] ??= []).push(sample);
				} catch (error) {
					measured.problems[contender] = error instanceof Error ? error.message : String(error);
				}
			}
		}
		return measured;
	}

	/** Does a case's task once, and writes a profile of the contender's processor to a file. */
	async profile(of: Case, contender: ContenderName, file: string): Promise<void> {
		await this.measure(of, contender, file);
	}

	stop(): void {
		this.sandboxes.stop();
	}

	private async measure(of: Case, contender: ContenderName, profile?: string): Promise<Sample> {
		const opened = await this.sandboxes.open({
			options: { latency: of.latency, clusters: isList(of) ? of.count : 6 },
		});
		const request: Request = {
			contender,
			task: taskOf(of),
			...opened,
			watchHeap: of.kind === 'memory' || of.kind === 'memoryOfList',
			...(profile !== undefined && { profile }),
		};
		const child = startProcess('client/process.ts', this.node);
		const cost = await ask<Cost>(child, request, MOST_SECONDS);
		const seen = await this.sandboxes.close();
		if (cost.results !== of.count) {
			throw new Error(`gave ${cost.results} results instead of ${of.count}`);
		}
		return { ...cost, ...seen };
	}
}

function isList({ kind }: Case): boolean {
	return kind === 'list' || kind === 'memoryOfList';
}

function taskOf(of: Case): Task {
	return isList(of)
		? { kind: 'list', pageSize: of.pageSize }
		: {
				kind: 'create',
				count: of.count,
				concurrency: of.concurrency,
				paced: of.kind !== 'concurrency',
			};
}
