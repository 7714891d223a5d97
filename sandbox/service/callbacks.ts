import { Agent, request } from 'node:http';
import type { LookupFunction } from 'node:net';

import type { StoredJob } from './jobs';

/** Milliseconds until the first new try, and at most; each wait is twice the one before. */
const firstWait = 500;
const longestWait = 10_000;

/** How often an address is tried: with these waits, for some five minutes, time to restart an n8n. */
const mostTries = 35;

/** Milliseconds that an answer may take. */
const answerTimeout = 10_000;

/** What came of calling an address. */
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
 * Calls an address when its job has succeeded, and again until the call is taken: n8n may be about to start,
 * or busy with another call. A job that was stopped or terminated calls nobody.
 */
export class Callbacks {
	private readonly byJob = new Map<StoredJob, Callback>();
	private readonly timers = new Map<StoredJob, NodeJS.Timeout>();
	private closed = false;

	/** @param url an address on loopback */
	add(job: StoredJob, url: URL): void {
		this.byJob.set(job, { url, tries: 0, status: undefined, settled: false });
		this.follow(job);
	}

	/** What came of a job's call; undefined where it was to make none. */
	of(job: StoredJob): Readonly<Callback> | undefined {
		return this.byJob.get(job);
	}

	/** Takes in that a job's state was changed. */
	follow(job: StoredJob): void {
		const callback = this.byJob.get(job);
		if (callback === undefined || callback.settled || this.closed) return;
		const { succeedsAt } = job;
		clearTimeout(this.timers.get(job));
		if (succeedsAt !== null) {
			this.after(Math.max(succeedsAt - Date.now(), 1), job, () => this.follow(job));
		} else if (job.state === 'succeeded') {
			this.after(0, job, () => void this.call(job, callback));
		}
	}

	/** Calls nobody from now on. */
	close(): void {
		this.closed = true;
		for (const timer of this.timers.values()) clearTimeout(timer);
		this.timers.clear();
	}

	private after(milliseconds: number, job: StoredJob, act: () => void): void {
		if (!this.closed) this.timers.set(job, setTimeout(act, milliseconds));
	}

	private async call(job: StoredJob, callback: Callback): Promise<void> {
		callback.tries += 1;
		const answer = await post(callback.url, resultOf(job));
		callback.status = answer?.status;
		callback.settled = isYes(answer) || callback.tries === mostTries;
		if (callback.settled) return;
		// Some chance, so that jobs that were turned away together don't come back together.
		const wait = Math.min(firstWait * 2 ** (callback.tries - 1), longestWait);
		this.after(wait * (0.5 + Math.random()), job, () => void this.call(job, callback));
	}
}

/** Whether the call was taken. An n8n that is about to start answers 200 with a text that asks for patience. */
function isYes(answer: Answer | undefined): boolean {
	if (answer === undefined || answer.status < 200 || answer.status >= 300) return false;
	return !answer.contentType.startsWith('text/html');
}

/** What the job brings. */
function resultOf(job: StoredJob): object {
	const outputs = (job.asked.outputs ?? []).map(({ id = '', default: value }) => [
		id,
		value ?? `${id} of ${job.displayName}`,
	]);
	return {
		jobId: job.uid,
		displayName: job.displayName,
		state: job.state,
		outputs: Object.fromEntries(outputs) as Record<string, string>,
	};
}

/** The name localhost is not looked up, so that nothing on the machine can make it lead elsewhere. */
const loopback: LookupFunction = (_name, { all }, found) => {
	const addresses = [
		{ address: '127.0.0.1', family: 4 },
		{ address: '::1', family: 6 },
	];
	if (all) found(null, addresses);
	else found(null, '127.0.0.1', 4);
};

interface Answer {
	status: number;
	contentType: string;
}

/**
 * Sends JSON. A redirect is an answer like any other, and no proxy is asked.
 * @returns undefined where no answer came
 */
async function post(url: URL, body: object): Promise<Answer | undefined> {
	return await new Promise((resolve) => {
		const call = request(url, {
			method: 'POST',
			agent: new Agent(),
			headers: { 'content-type': 'application/json' },
			lookup: loopback,
			signal: AbortSignal.timeout(answerTimeout),
		});
		call.on('response', (answer) => {
			const { statusCode: status = 0, headers } = answer.resume();
			resolve({ status, contentType: headers['content-type'] ?? '' });
		});
		call.on('error', () => resolve(undefined));
		call.end(JSON.stringify(body));
	});
}
