import {
	wrongWithAnswer,
	type Job,
	type NewJob,
	type OperationId,
	type Sandbox,
} from '../../sandbox';

/** An answer. A JSON body is parsed; an empty one is undefined. */
export interface Answer {
	status: number;
	headers: Headers;
	body: unknown;
}

/** What to send; the body goes out as JSON, a text as it is. */
export interface Sent {
	method?: string;
	token?: string;
	body?: unknown;
	headers?: Record<string, string>;
	signal?: AbortSignal;
}

/** Sends a call and takes whatever comes. */
export async function send(url: string, sent: Sent = {}): Promise<Answer> {
	const { method = 'GET', token, body, headers = {}, signal } = sent;
	const answer = await fetch(url, {
		method,
		redirect: 'manual',
		headers: {
			...(body !== undefined && { 'content-type': 'application/json' }),
			...(token !== undefined && { authorization: `Bearer ${token}` }),
			...headers,
		},
		...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
		...(signal && { signal }),
	});
	const text = await answer.text();
	const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
	return {
		status: answer.status,
		headers: answer.headers,
		body: isJson ? JSON.parse(text) : text === '' ? undefined : text,
	};
}

/** The smallest job that can be asked for. */
export const smallestJob: NewJob = {
	displayName: 'Nightly report',
	group: '',
	workCluster: 'wc-000001',
	workflow: { uid: 'wf-report' },
};

/** Calls a sandbox the way a client would, and fails where an answer is not what the contract says. */
export class Client {
	token = '';

	constructor(private readonly sandbox: Sandbox) {}

	async login(body: unknown = this.rightLogin): Promise<Answer> {
		const answer = await this.call('login', '/oauth/login', { method: 'POST', body });
		if (answer.status === 200) this.token = (answer.body as { access_token: string }).access_token;
		return answer;
	}

	async create(job: object = smallestJob, namespace = 'default'): Promise<Answer> {
		return await this.createRaw({ namespace, job }, namespace);
	}

	async createRaw(body: unknown, namespace = 'default'): Promise<Answer> {
		const path = `/api/v1/namespaces/${namespace}/jobs`;
		return await this.call('createJob', path, { method: 'POST', token: this.token, body });
	}

	/** Creates a job that must be created. */
	async createdJob(job: object = smallestJob): Promise<Job> {
		const answer = await this.create(job);
		if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
		return answer.body as Job;
	}

	async change(verb: string, jobId: string, namespace = 'default'): Promise<Answer> {
		const path = `/api/v1/namespaces/${namespace}/jobs/${encodeURIComponent(jobId)}/${verb}`;
		return await this.call('changeJobState', path, { method: 'PUT', token: this.token });
	}

	private get rightLogin(): object {
		const { userName, password } = this.sandbox;
		return { userName, password, type: 'basic' };
	}

	private async call(operation: OperationId, path: string, sent: Sent): Promise<Answer> {
		const answer = await send(this.sandbox.url + path, sent);
		const wrong = wrongWithAnswer(operation, answer.status, answer.body);
		if (wrong !== undefined) throw new Error(`The sandbox breaks its own contract: ${wrong}`);
		return answer;
	}
}

/** The message of an error's body. */
export function messageOf({ body }: Answer): string {
	return (body as { message: string }).message;
}

/** How long, in milliseconds, a test waits for something: less than Jest gives it, so that it says for what. */
const LONGEST_WAIT = 15_000;

/** With a poll in each turn of the event loop, a test that waits would keep a core busy. */
const POLL_MS = 2;

/**
 * Resolves as soon as something is so.
 * @throws Error with the condition in it, where it isn't so in time
 */
export async function until(isSo: () => boolean): Promise<void> {
	const began = process.hrtime.bigint();
	while (!isSo()) {
		if (Number(process.hrtime.bigint() - began) / 1e6 > LONGEST_WAIT)
			throw new Error(`Waited too long for ${String(isSo)}`);
		await new Promise((resolve) => setTimeout(resolve, POLL_MS));
	}
}
