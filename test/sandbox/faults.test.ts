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

/** Creates a job, whatever comes of it. */
async function create(signal?: AbortSignal): Promise<Answer> {
	return await send(`${sandbox.url}/api/v1/namespaces/default/jobs`, {
		method: 'POST',
		token,
		body: { namespace: 'default', job: smallestJob },
		...(signal && { signal }),
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
	it('an answer', async () => {
		first({
			kind: 'answer',
			when,
			status: 503,
			headers: { 'x-why': 'test' },
			body: { error: 'no' },
		});
		const answer = await create();
		expect(answer).toMatchObject({ status: 503, body: { error: 'no' } });
		expect(answer.headers.get('x-why')).toBe('test');
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([503]);
	});

	it('an answer of plain text, and an empty one', async () => {
		sandbox.faults.plan(({ n }) => ({
			kind: 'answer',
			when,
			status: 500,
			...(n === 1 && { body: 'out of order' }),
		}));
		expect((await create()).body).toBe('out of order');
		expect((await create()).body).toBeUndefined();
		expect(jobsMade()).toBe(2 * made);
	});

	it('a connection that breaks', async () => {
		first({ kind: 'break', when });
		await expect(create()).rejects.toThrow('fetch failed');
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([undefined]);
	});

	it('a stall, which ends when the client goes', async () => {
		first({ kind: 'stall', when });
		await expect(create(AbortSignal.timeout(50))).rejects.toThrow('timeout');
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([undefined]);
	});

	it('an answer that drips in, which ends when the client goes', async () => {
		first({ kind: 'drip', when });
		await expect(create(AbortSignal.timeout(150))).rejects.toThrow('timeout');
		expect(jobsMade()).toBe(made);
	});

	it('a stall, which does not keep the sandbox from closing', async () => {
		first({ kind: 'stall', when });
		const stalled = expect(create()).rejects.toThrow('fetch failed');
		await until(() => sandbox.calls.length === 1);
		await sandbox.close();
		await stalled;
	});

	it('a page instead of JSON', async () => {
		first({ kind: 'html', when, status: 502 });
		const answer = await create();
		expect(answer.status).toBe(502);
		expect(answer.headers.get('content-type')).toContain('text/html');
		expect(answer.body).toContain('<html>');
		expect(jobsMade()).toBe(made);
	});

	it('a huge body, of just so many bytes', async () => {
		first({ kind: 'hugeBody', when, bytes: 5_000_000 });
		const answer = await create();
		expect(JSON.stringify(answer.body)).toHaveLength(5_000_000);
		expect(jobsMade()).toBe(made);
	});

	it('a body that stops half-way', async () => {
		first({ kind: 'halfBody', when });
		await expect(create()).rejects.toThrow('terminated');
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([undefined]);
	});

	it('a wait, after which all goes on as if nothing had been', async () => {
		let goOn = (): void => {};
		first({ kind: 'wait', when, until: new Promise<void>((resolve) => (goOn = resolve)) });
		const answer = create();
		await until(() => sandbox.calls.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([undefined]);
		goOn();
		expect((await answer).status).toBe(200);
		expect(jobsMade()).toBe(1);
	});
});

it('Tokens that end just then: the call meets its own, and a new log-in helps', async () => {
	first({ kind: 'expireTokens' });
	expect((await create()).status).toBe(401);
	expect((await create()).status).toBe(401);
	expect(jobsMade()).toBe(0);
	expect((await new Client(sandbox).login()).status).toBe(200);
});

it('A rate limit says when to come again: in seconds, as a date, or not at all', async () => {
	const date = new Date('2030-01-01T00:00:00Z');
	const limits: Fault[] = [
		{ kind: 'rateLimit', retryAfter: 7 },
		{ kind: 'rateLimit', retryAfter: date },
		{ kind: 'rateLimit' },
	];
	sandbox.faults.plan(({ n }) => limits[n - 1]);
	const answers = [await create(), await create(), await create()];
	expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
	expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual([
		'7',
		'Tue, 01 Jan 2030 00:00:00 GMT',
		null,
	]);
	expect(jobsMade()).toBe(0);
});

it('A redirect points elsewhere', async () => {
	first({ kind: 'redirect', location: 'https://elsewhere.test/login' });
	const answer = await create();
	expect(answer.status).toBe(302);
	expect(answer.headers.get('location')).toBe('https://elsewhere.test/login');
	expect(jobsMade()).toBe(0);
});

it('A call can meet several faults in turn', async () => {
	first([
		{ kind: 'wait', when: 'beforeActing', until: Promise.resolve() },
		{ kind: 'break', when: 'afterActing' },
	]);
	await expect(create()).rejects.toThrow('fetch failed');
	expect(jobsMade()).toBe(1);
});

it('A call that was answered before it took effect meets no fault afterwards', async () => {
	first([{ kind: 'rateLimit' }, { kind: 'answer', when: 'afterActing', status: 500 }]);
	expect((await create()).status).toBe(429);
});

it('A call that is refused anyway meets the faults that come afterwards, too', async () => {
	token = 'wrong';
	first({ kind: 'answer', when: 'afterActing', status: 500 });
	expect((await create()).status).toBe(500);
	expect(jobsMade()).toBe(0);
});

it('A log-in can go wrong like any other call', async () => {
	first({ kind: 'answer', when: 'beforeActing', status: 500, body: 'down' });
	const { userName, password } = sandbox;
	const body = { userName, password, type: 'basic' };
	const answer = await send(`${sandbox.url}/oauth/login`, { method: 'POST', body });
	expect(answer).toMatchObject({ status: 500, body: 'down' });
	expect(sandbox.tokens.issued).toBe(1);
});

it('A plan sees each call as it came, counted over all and by operation', async () => {
	const seen: unknown[] = [];
	sandbox.faults.plan(({ operation, n, nOfOperation, method, path, body, query }) => {
		seen.push({ operation, n, nOfOperation, method, path, body, query });
		return undefined;
	});
	await create();
	await send(`${sandbox.url}/api/v1/clusters?ListOption.limit=3`, { token });
	await create();
	const path = '/api/v1/namespaces/default/jobs';
	const body = { namespace: 'default', job: smallestJob };
	expect(seen).toEqual([
		{ operation: 'createJob', n: 1, nOfOperation: 1, method: 'POST', path, body, query: {} },
		expect.objectContaining({
			operation: 'listClusters',
			n: 2,
			nOfOperation: 1,
			query: { 'ListOption.limit': '3' },
		}),
		expect.objectContaining({ operation: 'createJob', n: 3, nOfOperation: 2 }),
	]);
});

it('A new plan counts from one, and without a plan nothing goes wrong', async () => {
	for (const count of ['n', 'nOfOperation'] as const) {
		sandbox.faults.plan((call) => (call[count] === 1 ? { kind: 'rateLimit' } : undefined));
		expect((await create()).status).toBe(429);
		expect((await create()).status).toBe(200);
	}
	sandbox.faults.plan(() => ({ kind: 'break', when: 'beforeActing' }));
	sandbox.faults.clear();
	expect((await create()).status).toBe(200);
});

it('Faults never touch the page', async () => {
	sandbox.faults.plan(() => ({ kind: 'break', when: 'beforeActing' }));
	expect((await send(`${sandbox.url}/`)).status).toBe(200);
	expect((await send(`${sandbox.url}/page/snapshot`)).status).toBe(200);
});
