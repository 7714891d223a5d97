import { setTimeout as sleep } from 'node:timers/promises';

import type { Wish } from './callWhenDone';
import type { StoredJob } from './jobs';

/** Milliseconds between two checks whether a job has succeeded. */
const betweenLooks = 50;

/** Average number of milliseconds between two attempts. */
const betweenTries = 1_000;

/** The maximum number of attempts. They take five minutes or longer, which is enough to restart n8n. */
const mostTries = 300;

/** Milliseconds after which an attempt is aborted. */
const answerTimeout = 10_000;

export interface Callback {
	readonly url: URL;
	/** The number of attempts so far. */
	tries: number;
	/** The status of the response to the latest attempt; undefined if there was no response. */
	status: number | undefined;
}

/**
 * Calls the address of a job when the job has succeeded. Repeats the call until it is accepted, because n8n may be
 * starting, or busy with another call. A job that was stopped or terminated makes no call.
 */
export class Callbacks {
	private readonly byJob = new Map<StoredJob, Callback>();
	private isClosed = false;

	add(job: StoredJob, wish: Wish): void {
		const callback: Callback = { url: wish.url, tries: 0, status: undefined };
		this.byJob.set(job, callback);
		void this.callWhenDone(job, callback, wish);
	}

	/** Returns the state of a job's call; undefined if the job makes no call. */
	of(job: StoredJob): Readonly<Callback> | undefined {
		return this.byJob.get(job);
	}

	close(): void {
		this.isClosed = true;
	}

	private async callWhenDone(job: StoredJob, callback: Callback, wish: Wish): Promise<void> {
		while (job.finishedAt === null && !this.isClosed) await pause(betweenLooks);
		if (job.state !== 'succeeded') return;
		let isAccepted = false;
		for (let left = wish.calls; left > 0 && callback.tries < mostTries && !this.isClosed; ) {
			callback.tries += 1;
			const answer = await post(wish, resultOf(job));
			callback.status = answer?.status;
			// While n8n starts, it responds with a 200 and a web page that asks the user to wait.
			const isPage = answer?.headers.get('content-type')?.startsWith('text/html') ?? false;
			isAccepted ||= answer?.ok === true && !isPage;
			if (isAccepted) left -= 1;
			// The interval is random, so that jobs whose calls failed together don't call again together.
			else await pause(betweenTries * (0.5 + Math.random()));
		}
	}
}

async function pause(milliseconds: number): Promise<void> {
	await sleep(milliseconds, undefined, { ref: false });
}

/** Returns the body of the call. An output without a value gets a made-up value. */
function resultOf({ uid, displayName, state, asked }: StoredJob): object {
	const outputs = (asked.outputs ?? []).map(({ id = '', default: value }) => [
		id,
		value ?? `${id} of ${displayName}`,
	]);
	return { jobId: uid, displayName, state, outputs: Object.fromEntries(outputs) as unknown };
}

/**
 * Sends a POST request with JSON. Doesn't follow redirects, since they may lead to another machine.
 * @returns the response, or undefined if there was none within ten seconds
 */
async function post({ url, contentType }: Wish, body: object): Promise<Response | undefined> {
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
