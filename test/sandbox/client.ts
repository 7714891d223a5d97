import {
	wrongWithAnswer,
	type Job,
	type NewJob,
	type OperationId,
	type Sandbox,
	type Verb,
} from '../../sandbox';

/** A response. A JSON body is parsed; an empty body is undefined. */
export interface Answer {
	status: number;
	headers: Headers;
	body: unknown;
}

/** The parts of a request. The body is sent as JSON, or unchanged if it is a text. */
export interface Sent {
	method?: string;
	token?: string;
	body?: unknown;
}

/** Sends a request and returns the response, whatever its status is. */
export async function send(url: string, sent: Sent = {}): Promise<Answer> {
	const { method = 'GET', token, body } = sent;
	const answer = await fetch(url, {
		method,
		redirect: 'manual',
		headers: {
			...(body !== undefined && { 'content-type': 'application/json' }),
			...(token !== undefined && { authorization: `Bearer ${token}` }),
		},
		...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
	});
	const text = await answer.text();
	const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
	return {
		status: answer.status,
		headers: answer.headers,
		body: isJson ? JSON.parse(text) : text === '' ? undefined : text,
	};
}

/** A job with only the required fields. */
export const smallestJob: NewJob = {
	displayName: 'Nightly report',
	group: '',
	workCluster: 'wc-000001',
	workflow: { uid: 'wf-report' },
};

/** A client of the sandbox. It throws an error if a response violates the contract. */
export class Client {
	token = '';

	constructor(private readonly sandbox: Sandbox) {}

	async login(): Promise<Answer> {
		const { userName, password } = this.sandbox;
		const body = { userName, password, type: 'basic' };
		const answer = await this.call('login', '/oauth/login', { method: 'POST', body });
		this.token = (answer.body as { access_token: string }).access_token;
		return answer;
	}

	/** Creates a job, and throws an error if the service doesn't create it. */
	async createdJob(job: object = smallestJob): Promise<Job> {
		const path = '/api/v1/namespaces/default/jobs';
		const body = { namespace: 'default', job };
		const answer = await this.call('createJob', path, { method: 'POST', token: this.token, body });
		if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
		return answer.body as Job;
	}

	async change(verb: Verb, jobId: string): Promise<Answer> {
		const path = `/api/v1/namespaces/default/jobs/${jobId}/${verb}`;
		return await this.call('changeJobState', path, { method: 'PUT', token: this.token });
	}

	private async call(operation: OperationId, path: string, sent: Sent): Promise<Answer> {
		const answer = await send(this.sandbox.url + path, sent);
		const wrong = wrongWithAnswer(operation, answer.status, answer.body);
		if (wrong !== undefined) throw new Error(`The sandbox breaks its own contract: ${wrong}`);
		return answer;
	}
}

/**
 * How long a test waits for a condition, in milliseconds. The wait is shorter than Jest's time limit, so that the error
 * names the condition.
 */
const LONGEST_WAIT = 15_000;

/**
 * Waits until a condition is true.
 *
 * @throws Error with the code of the condition, if it isn't true in time
 */
export async function until(isSo: () => boolean): Promise<void> {
	const began = process.hrtime.bigint();
	while (!isSo()) {
		if (Number(process.hrtime.bigint() - began) / 1e6 > LONGEST_WAIT)
			throw new Error(`Waited too long for ${String(isSo)}`);
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}
