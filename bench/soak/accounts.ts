import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { JobState, StoredJob } from '../../sandbox';
import type { Result } from '../../test/engine/run';

/** What was counted: figures to look at, and what has to be 0. */
export interface Account {
	figures: Record<string, number>;
	promises: Record<string, number>;
}

/** How many items ended because their token was rejected, which another log-in would have mended. */
export function endedByToken({ branches }: Pick<Result, 'branches'>): number {
	return (branches[1] ?? []).filter(({ json }) => errorDetails(json).httpStatus === 401).length;
}

/** What a batch of creates made, and what it says that it made. The display name of a job is its item's number. */
export function accountOfCreates(
	{ branches, error }: Result,
	size: number,
	stored: Iterable<StoredJob>,
): Account {
	const [done = [], failed = []] = branches;
	const jobsOf = new Map<number, StoredJob[]>();
	let made = 0;
	for (const job of stored) {
		const item = Number(job.displayName);
		jobsOf.set(item, [...(jobsOf.get(item) ?? []), job]);
		made += 1;
	}
	const uncertain = new Set(failed.filter(jobMayExist).map(itemOf));
	const certain = failed.filter((item) => !jobMayExist(item)).map(itemOf);
	const inOutput = new Map(done.map((item) => [itemOf(item), uidOf(item)]));

	const isKnown = ([item, jobs]: [number, StoredJob[]]) =>
		uncertain.has(item) || jobs.some(({ uid }) => uid === inOutput.get(item));
	return {
		figures: {
			'jobs on the service': made,
			'jobs in the output': done.length,
			'items whose job may exist, as their error says': uncertain.size,
			'of which do exist': [...uncertain].filter((item) => jobsOf.has(item)).length,
			'items that certainly failed': certain.length,
		},
		promises: {
			'jobs doubled': [...jobsOf.values()].filter((jobs) => jobs.length > 1).length,
			'jobs lost': [...jobsOf].filter((entry) => !isKnown(entry)).length,
			'jobs in the output that do not exist': [...inOutput].filter(
				([item, uid]) => !jobsOf.get(item)?.some((job) => job.uid === uid),
			).length,
			'jobs of items that "certainly" failed': certain.filter((item) => jobsOf.has(item)).length,
			...unaccounted({ branches, error }, size),
		},
	};
}

const stateAfter = { suspend: 'suspended', resume: 'running', stop: 'stopped' } as const;

/** What a batch of state changes did, and what it says that it did. */
export function accountOfChanges(
	{ branches, error }: Pick<Result, 'branches' | 'error'>,
	operation: keyof typeof stateAfter,
	jobs: StoredJob[],
): Account {
	const [done = [], failed = []] = branches;
	const wanted: JobState = stateAfter[operation];
	const isWanted = (item: INodeExecutionData) => jobs[itemOf(item)]?.state === wanted;
	return {
		figures: {
			'changes that succeeded': done.length,
			'changes that failed': failed.length,
			'of which had their effect nevertheless': failed.filter(isWanted).length,
		},
		promises: {
			'successes without the effect': done.filter((item) => !isWanted(item)).length,
			'successes of another job': done.filter((item) => uidOf(item) !== jobs[itemOf(item)]?.uid)
				.length,
			...unaccounted({ branches, error }, jobs.length),
		},
	};
}

/** Items that are not in exactly one place, and errors that ended the run. */
function unaccounted(
	{ branches, error }: Pick<Result, 'branches' | 'error'>,
	size: number,
): Record<string, number> {
	const times = new Array<number>(size).fill(0);
	for (const item of branches.flat()) times[itemOf(item)] = (times[itemOf(item)] ?? 0) + 1;
	const isInOrder = (items: INodeExecutionData[]) =>
		items.every((item, index) => {
			const before = items[index - 1];
			return before === undefined || itemOf(before) < itemOf(item);
		});
	return {
		'items unaccounted for': times.filter((count) => count !== 1).length,
		'outputs out of order': branches.filter((branch) => !isInOrder(branch)).length,
		'errors that ended the run': error === undefined ? 0 : 1,
	};
}

function itemOf({ pairedItem }: INodeExecutionData): number {
	if (typeof pairedItem !== 'object' || Array.isArray(pairedItem)) {
		throw new Error('An output item does not say which item it comes from');
	}
	return pairedItem.item;
}

function uidOf({ json }: INodeExecutionData): unknown {
	return (json as { metadata?: { uid?: unknown } }).metadata?.uid;
}

function jobMayExist({ json }: INodeExecutionData): boolean {
	const { jobMayExist: isUncertain } = errorDetails(json);
	if (typeof isUncertain !== 'boolean')
		throw new Error('An error does not say whether the job may exist');
	return isUncertain;
}

/** What an item of the error output says. */
function errorDetails({ error }: IDataObject): Record<string, unknown> {
	return Object(error) as Record<string, unknown>;
}
