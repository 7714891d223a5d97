import type { INodeParameters } from 'n8n-workflow';

import type { CalledOperation, Fault, Sandbox, When } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { change, create, credentialFor, getAll, sendingsOfRejected } from '../engine/fixture';
import { Engine } from '../engine/run';
import type { Result } from '../engine/run';
import { Client } from '../sandbox/client';

/*
 * Every operation times every fault, met by the first call of the operation alone ("once") or by all of
 * them ("always"). Requests are sent again once at most.
 */

/** What a fault makes of a call. */
type Verdict =
	/** Sent once; an error, and certainly nothing was made. */
	| 'error'
	/** Sent once; an error that says that the job may exist. */
	| 'uncertain'
	/** Sent again after a wait: a success if the fault is gone by then, else an error. */
	| 'again'
	/** Sent once more right away, with the token of a new log-in. */
	| 'newToken'
	/** Sent once; a success. */
	| 'fine';

interface Row {
	name: string;
	fault: Fault;
	/** The title of the error; `{do}`, `{what}` and `{url}` stand for what the call is and where it goes. */
	says: string;
	httpStatus: number | null;
	create: Verdict;
	/** Suspend, resume, stop and terminate. */
	change: Verdict;
	list: Verdict;
	/** The least milliseconds between two tries; half of 300 unless the service asks for something else. */
	waits?: number;
	/** The option Timeout, in milliseconds. */
	timeout?: number;
}

const idempotentOnly = { create: 'uncertain', change: 'again', list: 'again' } as const;
const neverAgain = { create: 'error', change: 'error', list: 'error' } as const;
const alwaysAgain = { create: 'again', change: 'again', list: 'again' } as const;

const broke = {
	says: 'The connection to {url} broke before the answer was complete',
	httpStatus: null,
	...idempotentOnly,
};
const silent = {
	says: 'The service at {url} did not answer within 6 s',
	httpStatus: null,
	timeout: 6_000,
	...idempotentOnly,
};
const failed = { says: 'The service at {url} failed to {do}', ...idempotentOnly };
const tooMany = {
	says: 'The service is receiving too many requests',
	httpStatus: 429,
	...alwaysAgain,
};
const elsewhere = 'http://127.0.0.1:9/elsewhere';

const answer = (
	status: number,
	when: When = 'beforeActing',
	rest: { body?: unknown; headers?: Record<string, string> } = {},
): Fault => ({ kind: 'answer', when, status, ...rest });

/** The rows of a fault that can strike on both sides of the effect. */
function beforeAndAfter(name: string, row: (when: When) => Omit<Row, 'name'>): Row[] {
	return [
		{ name: `${name} before acting`, ...row('beforeActing') },
		{ name: `${name} after acting`, ...row('afterActing') },
	];
}

/** A date that is a second away at the least: such a header has no fractions of one. */
const soon = () => new Date(Date.now() + 2_000);

const rows: Row[] = [
	...beforeAndAfter('the connection breaks', (when) => ({
		fault: { kind: 'break', when },
		...broke,
	})),
	...beforeAndAfter('half a body', (when) => ({ fault: { kind: 'halfBody', when }, ...broke })),
	...beforeAndAfter('no answer', (when) => ({ fault: { kind: 'stall', when }, ...silent })),
	{
		name: '400',
		fault: answer(400),
		says: 'The service refused to {do}',
		httpStatus: 400,
		...neverAgain,
	},
	{
		name: '401',
		fault: answer(401),
		says: 'The service rejected the token that it had just given',
		httpStatus: 401,
		waits: 0,
		create: 'newToken',
		change: 'newToken',
		list: 'newToken',
	},
	{
		name: 'a token that has expired',
		fault: { kind: 'expireTokens' },
		says: 'The service rejected the token that it had just given',
		httpStatus: 401,
		waits: 0,
		create: 'newToken',
		change: 'newToken',
		list: 'newToken',
	},
	{
		name: '403',
		fault: answer(403),
		says: "The user isn't allowed to {do}",
		httpStatus: 403,
		...neverAgain,
	},
	{ name: '404', fault: answer(404), says: '{missing}', httpStatus: 404, ...neverAgain },
	...beforeAndAfter('408', (when) => ({
		fault: answer(408, when),
		says: 'The service gave up waiting for the request',
		httpStatus: 408,
		...idempotentOnly,
	})),
	{
		name: '409',
		fault: answer(409),
		says: "The service can't {do} as things stand",
		httpStatus: 409,
		...neverAgain,
	},
	{
		name: '422',
		fault: answer(422),
		says: 'The service refused to {do}',
		httpStatus: 422,
		...neverAgain,
	},
	{ name: '429', fault: { kind: 'rateLimit' }, ...tooMany },
	{
		name: '429 with Retry-After: 0',
		fault: { kind: 'rateLimit', retryAfter: 0 },
		waits: 0,
		...tooMany,
	},
	{
		name: '429 with Retry-After in seconds',
		fault: { kind: 'rateLimit', retryAfter: 1 },
		waits: 1_000,
		...tooMany,
	},
	{
		name: '429 with Retry-After as a date',
		get fault(): Fault {
			return { kind: 'rateLimit', retryAfter: soon() };
		},
		waits: 900,
		...tooMany,
	},
	...[500, 502, 503, 504].flatMap((status) =>
		beforeAndAfter(String(status), (when) => ({
			fault: answer(status, when),
			httpStatus: status,
			...failed,
		})),
	),
	{
		name: '501',
		fault: answer(501),
		says: 'The service at {url} failed to {do}',
		httpStatus: 501,
		create: 'uncertain',
		change: 'error',
		list: 'error',
	},
	{
		name: '503 with Retry-After',
		fault: answer(503, 'beforeActing', { headers: { 'retry-after': '1' } }),
		says: 'The service at {url} failed to {do}',
		httpStatus: 503,
		waits: 1_000,
		...alwaysAgain,
	},
	{
		name: "503 with a Retry-After that can't be read",
		fault: answer(503, 'beforeActing', { headers: { 'retry-after': 'later' } }),
		httpStatus: 503,
		...failed,
	},
	...beforeAndAfter('502 with a page', (when) => ({
		fault: { kind: 'html', when, status: 502 },
		httpStatus: 502,
		...failed,
	})),
	...([301, 302, 307, 308] as const).map((status) => ({
		name: `${status}`,
		fault: { kind: 'redirect', location: elsewhere, status } as const,
		says: `The service at {url} redirects to ${elsewhere}`,
		httpStatus: status,
		...neverAgain,
	})),
	{
		// "See other" is what follows a POST that has done its work.
		name: '303 after acting',
		fault: answer(303, 'afterActing', { headers: { location: elsewhere } }),
		says: `The service at {url} redirects to ${elsewhere}`,
		httpStatus: 303,
		create: 'uncertain',
		change: 'error',
		list: 'error',
	},
	...beforeAndAfter('a page', (when) => ({
		fault: { kind: 'html', when },
		says: 'The service answered with an HTML page instead of {what}',
		httpStatus: 200,
		create: 'uncertain',
		change: 'error',
		list: 'error',
	})),
	...beforeAndAfter('a list', (when) => ({
		fault: answer(200, when, { body: [] }),
		says: 'The service answered with a list instead of {what}',
		httpStatus: 200,
		create: 'uncertain',
		change: 'fine',
		list: 'error',
	})),
	...beforeAndAfter('an empty answer', (when) => ({
		fault: answer(200, when),
		says: 'The service answered with nothing instead of {what}',
		httpStatus: 200,
		create: 'uncertain',
		change: 'fine',
		list: 'error',
	})),
	...beforeAndAfter('a huge body', (when) => ({
		fault: { kind: 'hugeBody', when, bytes: 1_000_000 },
		says: 'The service answered with an object of other fields (filler) instead of {what}',
		httpStatus: 200,
		create: 'uncertain',
		change: 'fine',
		list: 'error',
	})),
	...beforeAndAfter('500 with a huge body', (when) => ({
		fault: { kind: 'hugeBody', when, bytes: 1_000_000, status: 500 },
		httpStatus: 500,
		...failed,
	})),
];

const verbs = ['suspend', 'resume', 'stop', 'terminate'] as const;
type Operation = 'create' | (typeof verbs)[number] | 'getAll';
const operations: Operation[] = ['create', ...verbs, 'getAll'];

const stateAfter = {
	suspend: 'suspended',
	resume: 'running',
	stop: 'stopped',
	terminate: 'terminated',
} as const;

/** What there is to know of a cell once it has run. */
interface Cell {
	/** How often the operation was called. */
	calls: number;
	logins: number;
	/** How many jobs there are on the service. */
	jobs: number;
	output: string | undefined;
	error: string | undefined;
	httpStatus: unknown;
	jobMayExist: unknown;
	/** What the description adds to the advice. */
	adds: string[];
	/** Whether the wait between two calls was as long as it should. */
	waitedEnough: boolean;
}

test.concurrent.each(rows)(
	'$name',
	async (row) => {
		const cells = operations.flatMap((operation) =>
			(['once', 'always'] as const).map((times) => ({ operation, times })),
		);
		const pairs = await Promise.all(
			cells.map(async ({ operation, times }) => {
				const { actual, expected } = await runCell(row, operation, times);
				return { name: `${operation}, ${times}`, actual, expected };
			}),
		);
		const byName = (side: 'actual' | 'expected') =>
			Object.fromEntries(pairs.map((pair) => [pair.name, pair[side]]));
		expect(byName('actual')).toEqual(byName('expected'));
	},
	60_000,
);

let engines: Engine[] = [];

async function runCell(row: Row, operation: Operation, times: 'once' | 'always') {
	const sandbox = await startSandbox();
	const engine = engines.pop() ?? (await Engine.load());
	try {
		engine.saveCredential(credentialFor(sandbox));
		const jobId = isVerb(operation) ? await newJob(sandbox, operation) : '';
		sandbox.faults.plan((call) =>
			call.operation === calledBy(operation) && (times === 'always' || call.nOfOperation === 1)
				? row.fault
				: undefined,
		);
		const options = {
			maxRetries: 1,
			...(row.timeout === undefined ? {} : { timeout: row.timeout }),
		};
		const result = await engine.run({ parameters: parametersOf(operation, jobId, options) });
		return {
			actual: whatWas(sandbox, operation, result, row.waits ?? 150),
			expected: await whatShouldBe(row, operation, times, sandbox.url, jobId),
		};
	} finally {
		engines.push(engine);
		await sandbox.close();
	}
}

afterAll(() => {
	engines = [];
});

function isVerb(operation: Operation): operation is (typeof verbs)[number] {
	return operation !== 'create' && operation !== 'getAll';
}

/** A job on which a verb can be carried out. */
async function newJob(sandbox: Sandbox, verb: (typeof verbs)[number]): Promise<string> {
	const client = new Client(sandbox);
	await client.login();
	await client.create();
	const [job] = sandbox.store.jobs.values();
	if (verb === 'resume') job?.change('suspend');
	sandbox.clearCalls();
	return String(job?.uid);
}

function calledBy(operation: Operation): CalledOperation {
	if (operation === 'create') return 'createJob';
	return operation === 'getAll' ? 'listClusters' : 'changeJobState';
}

function parametersOf(
	operation: Operation,
	jobId: string,
	options: INodeParameters,
): INodeParameters {
	if (operation === 'create') return create({ options });
	return operation === 'getAll' ? getAll({ options }) : change(operation, { jobId, options });
}

function whatWas(
	sandbox: Sandbox,
	operation: Operation,
	{ items, error }: Result,
	waits: number,
): Cell {
	const calls = sandbox.calls.filter((call) => call.operation === calledBy(operation));
	const [first, second] = calls;
	const [job] = sandbox.store.jobs.values();
	const description = error?.description ?? '';
	const context: Record<string, unknown> =
		error !== undefined && 'context' in error ? error.context : {};
	return {
		calls: calls.length,
		logins: sandbox.calls.filter((call) => call.operation === 'login').length,
		jobs: sandbox.store.jobs.size,
		output:
			items.length === 0
				? undefined
				: items.map(({ json }) => outputInShort(json, job?.state)).join(', '),
		error: error?.message,
		httpStatus: context.httpStatus,
		jobMayExist: context.jobMayExist,
		adds: Object.entries(additions).flatMap(([name, text]) =>
			text.test(description) ? [name] : [],
		),
		waitedEnough: first === undefined || second === undefined || second.at - first.at >= waits,
	};
}

const additions = {
	'how to find the job': /look on the service for a job named 'Report' in namespace 'default'/,
	'how often it was tried': /It was tried 2 times\./,
	'that an earlier try may have worked': /An earlier try got no clear answer/,
};

function outputInShort(json: Record<string, unknown>, state: string | undefined): string {
	if ('success' in json) return `${String(json.operation)}: ${String(json.success)}, ${state}`;
	return 'workflow' in json ? 'the job' : 'a cluster';
}

async function whatShouldBe(
	row: Row,
	operation: Operation,
	times: 'once' | 'always',
	url: string,
	jobId: string,
): Promise<Cell> {
	const verdict = verdictOf(row, operation);
	const isTwice = verdict === 'again' || verdict === 'newToken';
	const isSuccess = verdict === 'fine' || (isTwice && times === 'once');
	const acts = 'when' in row.fault && row.fault.when === 'afterActing';
	const context = isSuccess
		? { httpStatus: undefined, jobMayExist: undefined }
		: { httpStatus: row.httpStatus, jobMayExist: verdict === 'uncertain' };
	const sendings = verdict === 'newToken' ? await sendingsOfRejected() : 2;
	// Where a rejected request goes out three times, the second has the old token still.
	const oldTokenServes = sendings === 3 && row.fault.kind === 'answer' && times === 'once';
	return {
		calls: oldTokenServes ? 2 : isTwice ? sendings : 1,
		logins: verdict === 'newToken' && !oldTokenServes ? 2 : 1,
		jobs: operation === 'create' ? Number(isSuccess || acts) : isVerb(operation) ? 1 : 0,
		output: isSuccess ? outputOf(operation, acts || verdict !== 'fine') : undefined,
		error: isSuccess ? undefined : titleOf(row, operation, url, jobId),
		...context,
		adds: isSuccess ? [] : additionsOf(verdict, row, operation),
		waitedEnough: true,
	};
}

function verdictOf(row: Row, operation: Operation): Verdict {
	if (operation === 'create') return row.create;
	return operation === 'getAll' ? row.list : row.change;
}

function outputOf(operation: Operation, hasActed: boolean): string {
	if (operation === 'create') return 'the job';
	if (operation === 'getAll') return new Array(6).fill('a cluster').join(', ');
	const untouched = operation === 'resume' ? 'suspended' : 'running';
	return `${operation}: true, ${hasActed ? stateAfter[operation] : untouched}`;
}

function titleOf(row: Row, operation: Operation, url: string, jobId: string): string {
	const words = wordsFor(operation, jobId, url);
	const title = row.says
		.replace('{do}', words.toDo)
		.replace('{what}', words.what)
		.replace('{missing}', words.missing)
		.replace('{url}', url);
	return verdictOf(row, operation) === 'uncertain'
		? `${title}; the job may exist nevertheless`
		: title;
}

function wordsFor(operation: Operation, jobId: string, url: string) {
	switch (operation) {
		case 'create':
			return {
				toDo: "create a job in namespace 'default'",
				what: 'a job',
				missing: "Something that the new job needs wasn't found in namespace 'default'",
			};
		case 'getAll':
			return {
				toDo: 'list the work clusters',
				what: 'a list of work clusters',
				missing: `There is no list of work clusters at ${url}`,
			};
		default:
			return {
				toDo: `${operation} job '${jobId}' in namespace 'default'`,
				what: 'a confirmation',
				missing: `No job '${jobId}' in namespace 'default'`,
			};
	}
}

/** What may have had its effect on the service although it came to no good end. */
const unclear = (row: Row) =>
	row.httpStatus === null || [408, 500, 502, 503, 504].includes(row.httpStatus);

function additionsOf(verdict: Verdict, row: Row, operation: Operation): string[] {
	if (verdict === 'uncertain') return ['how to find the job'];
	if (verdict !== 'again') return [];
	return [
		'how often it was tried',
		...(isVerb(operation) && unclear(row) && row.waits === undefined
			? ['that an earlier try may have worked']
			: []),
	];
}
