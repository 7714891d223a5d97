import { startSandbox, type Fault, type Sandbox, type When } from '../../sandbox';
import { Client, send, smallestJob, until, type Answer } from './client';

let sandbox: Sandbox;
let token: string;

beforeEach(async () => {
	sandbox = await startSandbox();
	const client = new Client(sandbox);
	await client.login();
	({ token } = client);
	sandbox.clearCalls();
});
afterEach(async () => await sandbox.close());

/*
 * What each fault does to a call, and whether a job is made then, is proved by test/reliability/matrix.test.ts.
 */

/** Creates a job, and gives the answer as it comes. */
async function create(): Promise<Answer> {
	return await send(`${sandbox.url}/api/v1/namespaces/default/jobs`, {
		method: 'POST',
		token,
		body: { namespace: 'default', job: smallestJob },
	});
}

/** The first call meets a fault, no other. */
function first(fault: Fault | Fault[]): void {
	sandbox.faults.plan(({ n }) => (n === 1 ? fault : undefined));
}

const jobsMade = (): number => sandbox.store.jobs.size;
const statuses = (): Array<number | undefined> => sandbox.calls.map(({ status }) => status);

const moments: Array<[When, number]> = [
	['beforeActing', 0],
	['afterActing', 1],
];

describe.each(moments)('A fault that strikes %s leaves %i jobs:', (when, made) => {
	it('a wait, after which the call goes on', async () => {
		let goOn = (): void => {};
		first({ kind: 'wait', when, until: new Promise<void>((resolve) => (goOn = resolve)) });
		const answer = create();
		await until(() => sandbox.calls.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect([jobsMade(), statuses()]).toEqual([made, [undefined]]);
		goOn();
		expect((await answer).status).toBe(200);
		expect(jobsMade()).toBe(1);
	});
});

it('A call can meet several faults in turn, until it is answered; one that is refused, too', async () => {
	const wait: Fault = { kind: 'wait', when: 'beforeActing', until: Promise.resolve() };
	first([wait, { kind: 'break', when: 'afterActing' }]);
	await expect(create()).rejects.toThrow('fetch failed');
	expect(jobsMade()).toBe(1);
	first([wait, { kind: 'rateLimit' }, { kind: 'answer', when: 'afterActing', status: 500 }]);
	expect((await create()).status).toBe(429);
	token = 'wrong';
	first({ kind: 'answer', when: 'afterActing', status: 500 });
	expect((await create()).status).toBe(500);
});

it('A plan sees each call, counted over all and by operation, from one', async () => {
	const seen: unknown[] = [];
	sandbox.faults.plan(({ operation, n, nOfOperation, path, body, query }) => {
		seen.push({ operation, n, nOfOperation, path, body, query });
		return undefined;
	});
	await create();
	await send(`${sandbox.url}/api/v1/clusters?ListOption.limit=3`, { token });
	await create();
	const path = '/api/v1/namespaces/default/jobs';
	const body = { namespace: 'default', job: smallestJob };
	const query = { 'ListOption.limit': '3' };
	expect(seen).toEqual([
		{ operation: 'createJob', n: 1, nOfOperation: 1, path, body, query: {} },
		expect.objectContaining({ operation: 'listClusters', n: 2, nOfOperation: 1, query }),
		expect.objectContaining({ operation: 'createJob', n: 3, nOfOperation: 2 }),
	]);
});
