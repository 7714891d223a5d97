import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import { JobOrchestrationApi } from '../../credentials/JobOrchestrationApi.credentials';
import { completeError, nodeErrorOf } from '../../nodes/JobOrchestration/execution/errors';
import { Given } from '../../nodes/JobOrchestration/parameters/given';
import { getAll } from '../../nodes/JobOrchestration/resources/cluster/operations';
import * as jobOperations from '../../nodes/JobOrchestration/resources/job/operations';
import type { Operation } from '../../nodes/JobOrchestration/resources/operation';
import { readBaseUrl } from '../../nodes/JobOrchestration/service/baseUrl';
import type { Connection, Reply } from '../../nodes/JobOrchestration/service/connection';
import { explainLogin } from '../../nodes/JobOrchestration/service/explain/login';
import type { Failure, LoginFailure } from '../../nodes/JobOrchestration/service/failure';
import { CallError } from '../../nodes/JobOrchestration/service/send';
import { Service } from '../../nodes/JobOrchestration/service/service';

/*
 * docs/errors.md has every title that the code can give, and no other. Where the texts differ from one
 * error to the next, the page has an ellipsis, and what is called here has the words below.
 */

const url = 'https://url.example';
const uncertain = '; the job may exist nevertheless';
const namespace = 'a-namespace';
const jobId = 'a-job-id';
const displayName = 'a-display-name';
const reason = 'a-reason';
const came = 'a-thing';
const location = 'https://elsewhere.example';
const seconds = 77;
const problem = 'a-problem';

const { create, ...changes } = jobOperations;
const stateChanges = Object.values(changes);
const deeds = [
	`create a job in namespace '${namespace}'`,
	...stateChanges.map(({ value }) => `${value} job '${jobId}' in namespace '${namespace}'`),
	'list the work clusters',
];

/** A text as the page has it. */
function asInDoc(text: string): string {
	const words = [url, namespace, jobId, displayName, reason, came, location, String(seconds)];
	const inTitles = deeds.map((deed) => ` ${deed}`);
	const shortened = inTitles.reduce((left, deed) => left.replaceAll(deed, ' …'), text);
	return words.reduce((left, word) => left.replaceAll(word, '…'), shortened);
}

const page = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');

interface Row {
	/** A cell may hold more than one, each on a line of its own. */
	titles: string[];
	mayExist: string | undefined;
}

/** The rows of a part of the page. */
function rowsUnder(heading: string): Row[] {
	const part = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
	const [head = [], , ...rows] = part
		.split('\n')
		.filter((line) => line.startsWith('|'))
		.map((line) => line.split('|').map((cell) => cell.trim()));
	const last = head.indexOf('May the job exist?');
	return rows.map((cells) => ({
		titles: (cells[1] ?? '').split('<br>'),
		mayExist: last < 0 ? undefined : cells[last],
	}));
}

const rows = [
	'In the credential, and logging in',
	'In a field of the node',
	'No answer',
	'The service answered no',
	"The answer isn't what it should be",
].flatMap(rowsUnder);

const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);

/** Failures of every kind; a kind that is missing here does not compile. */
const loginFailures: { [K in LoginFailure['kind']]: Array<Extract<LoginFailure, { kind: K }>> } = {
	// What a Base URL can have wrong is asked of readBaseUrl, below.
	baseUrl: [],
	unreachable: ['ECONNREFUSED', 'ENOTFOUND'].map((code) => ({ kind: 'unreachable', code })),
	certificate: [{ kind: 'certificate', code: 'CERT_HAS_EXPIRED' }],
	timeout: [{ kind: 'timeout' }],
	broken: [{ kind: 'broken', code: 'ECONNRESET' }],
	cancelled: [{ kind: 'cancelled' }],
	redirect: [302, 303].flatMap((status) => [
		{ kind: 'redirect', status, location },
		{ kind: 'redirect', status, location: undefined },
	]),
	status: statuses.flatMap((status) =>
		[undefined, 1_000].flatMap((retryAfter) => [
			{ kind: 'status', status, text: undefined, retryAfter },
			{ kind: 'status', status, text: reason, retryAfter },
		]),
	),
	unexpectedAnswer: [{ kind: 'unexpectedAnswer', status: 200, came, wanted: 'a token' }],
	foreignHost: [{ kind: 'foreignHost', host: 'elsewhere.example' }],
};
const loginCauses = Object.values(loginFailures).flat();

/** What can come of a request. A web page is not what any operation wants. */
const outcomes: Reply[] = [
	...loginCauses.filter(({ kind }) => kind !== 'unexpectedAnswer').map((failure) => ({ failure })),
	...loginCauses.map((because) => ({ failure: { kind: 'login', because } as const })),
	{ answer: { status: 200, body: '<html></html>', header: () => undefined }, secrets: [] },
];

const values: Record<string, unknown> = {
	namespace,
	jobId,
	displayName,
	workflowUid: 'a-workflow',
	workCluster: 'a-cluster',
};

/** The errors of an operation, one for each outcome that it can have. */
async function errorsOf(operation: Operation, ...more: Failure[]): Promise<CallError[]> {
	const call = operation.prepare((field, member) =>
		member === undefined ? new Given(field, values[field]) : new Given(member, undefined),
	);
	const all = [...outcomes, ...more.map((failure) => ({ failure }))];
	return await Promise.all(
		all.map(async (outcome) => {
			const connection = { baseUrl: url, send: async () => outcome } as unknown as Connection;
			const service = new Service(connection, { maxRetries: 0, timeout: seconds * 1_000 });
			const error: unknown = await call(service).catch((thrown: unknown) => thrown);
			if (!(error instanceof CallError)) throw new Error('This outcome is no CallError');
			return error;
		}),
	);
}

const createErrors = errorsOf(create);
const otherErrors = Promise.all([
	...stateChanges.map(async (operation) => await errorsOf(operation)),
	errorsOf(getAll, { kind: 'endlessList' }),
]);

const titleOf = ({ message }: { message: string }) =>
	asInDoc(message.replace(uncertain, '')).replace('an HTML page', '…');

/** What an action throws. */
function thrownBy(action: () => unknown): Error {
	try {
		action();
	} catch (error) {
		if (error instanceof Error) return error;
	}
	throw new Error('Nothing was thrown');
}

const fieldTitles = (
	[
		['', (given) => given.requiredText()],
		[[], (given) => given.text()],
		[{}, (given) => given.text()],
		['.', (given) => given.id()],
		['..', (given) => given.id()],
		['\ud83d', (given) => given.id()],
		[problem, (given) => given.optionalNumber()],
		[-1, (given) => given.optionalNumber({ least: 0 })],
		[1.5, (given) => given.optionalNumber({ whole: true })],
		[problem, (given) => given.boolean()],
		['[{', (given) => given.jsonRecords()],
		['{}', (given) => given.jsonRecords()],
		['[3]', (given) => given.jsonRecords()],
		['[]', (given) => given.jsonObject()],
	] satisfies Array<[unknown, (given: Given) => unknown]>
).map(([value, read]) =>
	thrownBy(() => read(new Given('…', value)))
		.message.replace(/ is (?:"a-problem"|-1|1\.5|a list|an object), (?!not a text)/, ' is …, ')
		.replace('has 3 at position 1', 'has … at position …'),
);

const baseUrlTitles = [
	'',
	'jobs.example.com',
	'ftp://jobs.example.com',
	'http://me@jobs.example.com',
	'http://jobs.example.com?',
].map((text) => thrownBy(() => readBaseUrl(text)).message);

const testTitles = (new JobOrchestrationApi().test.rules ?? []).map(({ properties }) =>
	String('message' in properties ? properties.message : ''),
);

/** Every title in the code, as the page has it. */
async function titlesInCode(): Promise<string[]> {
	const calls = [await createErrors, ...(await otherErrors)].flat();
	const logins = loginCauses.map((failure) => explainLogin(failure, url));
	const titles = [...calls, ...logins].map(titleOf);
	// The one title that execute.ts has of its own.
	const noOperation = 'The resource "…" has no operation "…"';
	return [...new Set([...titles, ...fieldTitles, ...baseUrlTitles, ...testTitles, noOperation])];
}

test('every title in the code is in docs/errors.md', async () => {
	const titles = rows.flatMap((row) => row.titles);
	expect((await titlesInCode()).filter((title) => !titles.includes(title))).toEqual([]);
});

test('every title in docs/errors.md is in the code, and is there once', async () => {
	const inCode = await titlesInCode();
	const titles = rows.flatMap((row) => row.titles);
	expect(titles.filter((title) => !inCode.includes(title))).toEqual([]);
	expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test('docs/errors.md says what the ellipsis of a title stands for', () => {
	const inDoc = (deed: string) => deed.replace(namespace, '…').replace(jobId, '…');
	for (const { value } of stateChanges) expect(page).toContain(`\`${value}`);
	for (const deed of [
		deeds[0],
		`suspend job '${jobId}' in namespace '${namespace}'`,
		deeds.at(-1),
	]) {
		expect(page).toContain(`- \`${inDoc(deed ?? '')}\``);
	}
});

test('docs/errors.md says of every error of a create whether the job may exist', async () => {
	const errors = await createErrors;
	for (const { titles, mayExist } of rows) {
		const ofRow = errors.filter((error) => titles.includes(titleOf(error)));
		const uncertainOnes = ofRow.filter(({ jobMayExist }) => jobMayExist);
		expect(uncertainOnes.every(({ message }) => message.endsWith(uncertain))).toBe(true);
		expect([titles, mayExist?.includes('**yes**') ?? false]).toEqual([
			titles,
			uncertainOnes.length > 0,
		]);
		if (mayExist !== undefined)
			expect([titles, mayExist !== '']).toEqual([titles, ofRow.length > 0]);
	}
});

test('what docs/errors.md has as added to errors is added', () => {
	const node: INode = {
		id: '',
		name: '',
		type: '',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const error = (timesSent: number) => {
		const call = { operation: 'createJob', namespace, displayName, workCluster: '' } as const;
		const attempts = { baseUrl: url, timeout: 1, timesSent, earlierMayHaveActed: true };
		return nodeErrorOf(node, new CallError(call, { kind: 'timeout' }, attempts));
	};
	const { message, description } = completeError(error(2), {
		itemIndex: 0,
		createdJobs: Array.from({ length: 101 }, (_item, itemIndex) => ({
			itemIndex,
			namespace,
			uid: jobId,
			displayName,
		})),
		otherErrors: [{ itemIndex: 1, error: error(1) }],
	});
	const additions = rowsUnder('What comes on top').flatMap(({ titles }) => titles);
	expect(additions.length).toBeGreaterThan(5);
	for (const addition of additions) {
		const parts = addition.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
		expect(`${message}\n${description}`).toMatch(new RegExp(parts.join('.+')));
	}
});
