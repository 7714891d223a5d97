import type { ChildProcess } from 'node:child_process';

import { ask, startProcess } from '../childProcess';
import type { Opened, Request, Seen } from './messages';

/** Seconds that opening or closing may take. */
const MOST_SECONDS = 30;

/** The sandboxes in their process: new ones for each measurement, in one process that has got warm. */
export class Sandboxes {
	private readonly process: ChildProcess;

	constructor(node: string) {
		this.process = startProcess('sandbox/process.ts', node);
	}

	async open(options: Omit<Extract<Request, { kind: 'open' }>, 'kind'>): Promise<Opened> {
		return await ask<Opened>(this.process, { kind: 'open', ...options }, MOST_SECONDS);
	}

	/** Closes both, and says what the measured one saw. */
	async close(): Promise<Seen> {
		return await ask<Seen>(this.process, { kind: 'close' }, MOST_SECONDS);
	}

	stop(): void {
		this.process.disconnect();
	}
}
