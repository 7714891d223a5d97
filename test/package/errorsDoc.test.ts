import { completeError, nodeErrorOf } from '../../nodes/JobOrchestration/execution/errors';
import type { ItemOutcomes } from '../../nodes/JobOrchestration/execution/itemOutcome';
import { createdJobsIn } from '../../nodes/JobOrchestration/execution/itemOutcome';
import { retryStateOf } from '../../nodes/JobOrchestration/execution/retryState';
import { CallError } from '../../nodes/JobOrchestration/service/calls/callError';
import { PaginationGuard } from '../../nodes/JobOrchestration/service/calls/paginationGuard';
import { ServiceClient } from '../../nodes/JobOrchestration/service/calls/serviceClient';
import { useSandbox } from '../engine/fixture';
import { jobEnds } from '../engine/operations';
import { newSender } from '../engine/sender';
import { baseUrlErrors, fieldErrors, testErrors } from './errors/ofNode';
import { range, serviceErrors } from './errors/ofService';
import { additions, explained, isTitled, rows, sourceOf, tells, uncertain } from './errors/page';
import { node, things } from './errors/shown';
import type { Shown } from './errors/shown';

/*
 * docs/errors.md has every title that the code can give, with its statuses, its advice and whether the job may
 * exist, and nothing else. What a description says beside its advice is on the page, too, unless it explains itself.
 * All that the code can give comes from the code.
 */

const fixture = useSandbox();

/** The one error that is made where an operation is looked for. */
async function operationError(): Promise<Shown> {
	const { error } = await fixture.engine.run({ parameters: { resource: 'job', operation: 'x' } });
	return { title: error?.message ?? '', description: error?.description ?? '' };
}

const errorsAbout = async (about: typeof things): Promise<Shown[]> => [
	...(await serviceErrors(about)),
	...baseUrlErrors,
	...fieldErrors,
	...testErrors,
	await operationError(),
];

let errors: Promise<Shown[]> | undefined;
const all = async () => await (errors ??= errorsAbout(things));

test('every error of the code is in docs/errors.md, with its advice', async () => {
	const missing = (await all()).filter((error) => !rows.some((row) => tells(row, error)));
	expect(new Set(missing.map(({ title, description }) => `${title} | ${description}`))).toEqual(
		new Set(),
	);
});

test('every row of docs/errors.md is an error of the code, with its statuses, and is there once', async () => {
	const errors = await all();
	for (const row of rows) {
		const statuses = errors.filter((error) => tells(row, error)).map(({ status }) => status);
		expect([row.title, statuses.length > 0]).toEqual([row.title, true]);
		const numbers = [...new Set(statuses)].filter((status) => status !== undefined);
		expect([row.title, numbers.sort()]).toEqual([row.title, row.statuses]);
	}
	const texts = rows.map(({ title, advice }) => `${title} | ${advice}`);
	expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
});

test('docs/errors.md says of every error of a create whether the job may exist', async () => {
	const errors = (await all()).filter(({ isOfLogIn }) => isOfLogIn !== true);
	for (const row of rows) {
		const ofRow = errors.filter((error) => isTitled(row, error));
		const yes = ofRow.filter(({ jobMayExist }) => jobMayExist === true);
		const no = ofRow.filter(({ jobMayExist }) => jobMayExist === false);
		expect(yes.filter(({ title }) => !title.endsWith(uncertain))).toEqual([]);
		const expected = inShort(yes, no);
		expect([row.title, row.mayExist.slice(0, expected.length || undefined)]).toEqual([
			row.title,
			expected,
		]);
	}
});

/** Whether the job may exist, with the statuses that are an exception. */
function inShort(yes: Shown[], no: Shown[]): string {
	if (yes.length === 0) return '';
	if (no.length === 0) return '**The job may exist.**';
	const exceptionsOf = (errors: Shown[]) => [...new Set(errors.map(({ status }) => status))].join();
	if (yes.length < no.length) return `**With ${exceptionsOf(yes)}, the job may exist.**`;
	// The same status stands on both sides: what makes the difference is the header.
	const isOnBoth = no.every(({ status }) => yes.some((error) => error.status === status));
	const header = isOnBoth ? ' with a `Retry-After`.' : '.';
	return `**The job may exist**, but not after a ${exceptionsOf(no)}${header}`;
}

test('every title has its point within 80 characters, however long what it is about is', async () => {
	const long = (text: string) => `${text}${'-and-so-on'.repeat(20)}`;
	const about = {
		url: `https://${'long.'.repeat(40)}example`,
		given: long('something'),
		location: long('https://elsewhere.example/'),
		proxy: `${'proxy.'.repeat(40)}example:3128`,
	};
	const fromTest = new Set(testErrors.map(({ title }) => title));
	const titles = [...(await errorsAbout(about)), ...(await all())].map(({ title }) => title);
	const tooLong = titles.filter((title) => title.length > 80 && !fromTest.has(title));
	expect(new Set(tooLong)).toEqual(new Set());
});

test('what is known to be added to errors is added', async () => {
	const sender = newSender(() => ({ failure: { kind: 'timeout' } }), { baseUrl: things.url });
	const error: unknown = await new ServiceClient(sender, { maxRetries: 0, timeout: 1 })
		.changeJobState({ namespace: 'n', jobId: 'j', verb: 'stop' })
		.catch((thrown: unknown) => thrown);
	const other = nodeErrorOf(node, error);
	other.context.jobMayExist = true;
	const job = { itemIndex: 0, namespace: 'n', uid: 'u', displayName: 'd' };
	const complete = (...outcomes: ItemOutcomes) =>
		completeError(
			{ itemIndex: 0, error: nodeErrorOf(node, error) },
			{ outcomes, createdJobs: createdJobsIn(outcomes) },
			(text) => text,
		);
	const completed = complete(
		{ createdJobs: range(0, 100).map(() => job), output: [] },
		{ createdJobs: [], error: other },
	);
	const ended = jobEnds.map((operation) =>
		complete({
			createdJobs: [
				{ ...job, ending: { operation, success: true } },
				{ ...job, ending: { operation, success: false, message: 'No' } },
			],
			output: [],
		}),
	);
	const run = { createdJobs: [], error: other };
	const left = retryStateOf('job.create', { outcomes: [run], endedJobs: [], omitted: [] })
		?.items[0];
	const page1 = [{ metadata: { uid: 1 } }];
	const progress = [new PaginationGuard(undefined, 100), new PaginationGuard(undefined, 100)];
	const signs = range(1, 2_000).flatMap((page) => [
		progress[0]?.check(page1, `${page}`),
		progress[1]?.check([{ metadata: { uid: page } }], `${page}`),
	]);
	const tried = await triedTwice();
	const texts = [
		...(await serviceErrors(things)).map(({ title, description }) => `${title} ${description}`),
		...[completed, ...ended].map(({ description }) => description),
		...[JSON.stringify(left), tried, ...new Set(signs)],
	].join('\n');
	expect(explained.length).toBeGreaterThan(4);
	expect(additions.filter((text) => !new RegExp(sourceOf(text)).test(texts))).toEqual([]);
});

/** What a state change says that was sent twice. */
async function triedTwice(): Promise<string> {
	const failure = { kind: 'status', status: 500, text: undefined, retryAfter: 0 } as const;
	const sender = newSender(() => ({ failure }), { baseUrl: things.url });
	const client = new ServiceClient(sender, { maxRetries: 1, timeout: 1 });
	const error: unknown = await client
		.changeJobState({ namespace: 'n', jobId: 'j', verb: 'stop' })
		.catch((thrown: unknown) => thrown);
	return error instanceof CallError ? (error.description ?? '') : '';
}
