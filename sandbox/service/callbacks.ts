import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Wish } from './callWhenDone';
import type { StoredJob } from './jobs';

/** Milliseconds between two looks at whether a job has succeeded. */
const betweenLooks = 50;

/** Milliseconds between two tries, on average. */
const betweenTries = 1_000;

/** How often an address is tried: for five minutes, time to restart an n8n. */
const mostTries = 300;

/** Milliseconds that an answer may take. */
const answerTimeout = 10_000;

export interface Callback {
	readonly url: URL;
	/** How often it was called. */
	tries: number;
	/** The latest answer's status; undefined where none came. */
	status: number | undefined;
	/** Whether it is over: the call was taken, or it was given up. */
	settled: boolean;
}

/**
 * Calls an address when its job has succeeded, and again until the call is taken: n8n may be starting, or busy
 * with another call. A job that was stopped or terminated makes no call.
 */
export class Callbacks {
	private readonly byJob = new Map<StoredJob, Callback>();
	private readonly closing = new AbortController();

	constructor() {
		// Each job that is to call listens.
		setMaxListeners(0, this.closing.signal);
	}

	add(job: StoredJob, wish: Wish): void {
		const callback: Callback = { url: wish.url, tries: 0, status: undefined, settled: false };
		this.byJob.set(job, callback);
		void this.callWhenDone(job, callback, wish).catch((error: unknown) => {
			if (!this.closing.signal.aborted) throw error;
		});
	}

	/** What came of a job's call; undefined where it was to make none. */
	of(job: StoredJob): Readonly<Callback> | undefined {
		return this.byJob.get(job);
	}

	close(): void {
		this.closing.abort();
	}

	private async callWhenDone(job: StoredJob, callback: Callback, wish: Wish): Promise<void> {
		const { url, contentType, calls } = wish;
		while (job.finishedAt === null) await this.wait(betweenLooks);
		if (job.state !== 'succeeded') return;
		for (;;) {
			callback.tries += 1;
			const answer = await post(url, contentType, resultOf(job));
			callback.status = answer?.status;
			// An n8n that is starting answers 200 with a page that asks for patience.
			const isPage = answer?.headers.get('content-type')?.startsWith('text/html') ?? false;
			callback.settled = (answer?.ok === true && !isPage) || callback.tries === mostTries;
			if (callback.settled) break;
			// A random part, so that jobs that were turned away together don't come back together.
			await this.wait(betweenTries * (0.5 + Math.random()));
		}
		for (let call = 1; call < calls; call += 1) {
			callback.tries += 1;
			callback.status = (await post(url, contentType, resultOf(job)))?.status;
		}
	}

	/** @throws AbortError when it is closed */
	private async wait(milliseconds: number): Promise<void> {
		await sleep(milliseconds, undefined, { signal: this.closing.signal });
	}
}

function resultOf({ uid, displayName, state, asked }: StoredJob): object {
	const outputs = (asked.outputs ?? []).map(({ id = '', default: value }) => [
		id,
		value ?? `${id} of ${displayName}`,
	]);
	return { jobId: uid, displayName, state, outputs: Object.fromEntries(outputs) as unknown };
}

/**
 * Sends JSON. A redirect is an answer like any other: it may lead off this machine.
 * @returns undefined where no answer came
 */
async function post(url: URL, contentType: string, body: object): Promise<Response | undefined> {
	try {
		const answer = await fetch(url, {
			method: 'POST',
			headers: { 'content-type': contentType, connection: 'close' },
			body: JSON.stringify(body),
			redirect: 'manual',
			signal: AbortSignal.timeout(answerTimeout),
		});
		await answer.body?.cancel();
		return answer;
	} catch {
		return undefined;
	}
}
