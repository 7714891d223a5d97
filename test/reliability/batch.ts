import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';

import type { Fault, Plan, PlannedCall, When } from '../../sandbox';
import { answer } from '../support/answer';
import { create, numbered, useSandbox } from '../support/fixture';
import type { Engine, NodeOptions, Result } from '../support/run';
import { until } from '../sandbox/client';

/*
 * Batches of creates, some of which meet faults.
 */

/** A create for each item, named by its number. */
export const batch = (options: INodeParameters = {}) =>
	create({ displayName: '=Job {{ $json.n }}', options });

/** The same, one after the other. */
export const oneByOne = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch({ concurrency: 1, ...options }),
});

/** n8n's setting Retry On Fail. */
export const tries = (maxTries = 3): Partial<INode> => ({
	...{ retryOnFail: true, maxTries, waitBetweenTries: 1 },
});

/** The number of the item that a create is for. */
export function itemOf({ body }: Pick<PlannedCall, 'body'>): number {
	const { job } = body as { job: { displayName: string } };
	return Number(job.displayName.replace('Job ', ''));
}

export const refused: Fault = answer(400, { message: 'no' });
/** Refuses the create of one item. */
export const refusedAt = (refusedItem: number) => (item: number) =>
	item === refusedItem ? refused : undefined;
export const brokenAfter: Fault = { kind: 'break', when: 'afterActing' };

/** The context of the error that ended a run. */
export function contextOf({ error }: Result): Record<string, unknown> {
	return error !== undefined && 'context' in error ? error.context : {};
}

/** The items whose job may exist, as an error lists them. */
export function uncertainIn(result: Result): number[] {
	const { uncertainItems = [] } = contextOf(result);
	return (uncertainItems as Array<{ itemIndex: number }>).map(({ itemIndex }) => itemIndex);
}

interface ListedJob {
	uid: string;
	cleanup?: { operation: string; success: boolean; message?: string };
}

/** The jobs that an error lists. */
export const listedIn = (result: Result) => (contextOf(result).createdJobs ?? []) as ListedJob[];

/** Their uids. */
export const createdIn = (result: Result) => listedIn(result).map(({ uid }) => uid);

/** The display names in a node's output. */
export const namesIn = ({ items }: Result) => items.map(({ json }) => json.displayName);

/** The job that a state change is for. */
export const jobIdOf = ({ path }: Pick<PlannedCall, 'path'>) => path.split('/').at(-2) ?? '';

/** A promise that is kept when the test says so, and the fault of a call that waits for it. */
export function gate(when: When = 'beforeActing') {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => (open = resolve));
	const fault: Fault = { kind: 'wait', when, until: opened };
	return { opened, open, fault };
}

/** What a node does in a run: n8n keeps neither the error nor the output of one that is cancelled. */
export function watchNode({ loaded }: Engine) {
	const execute = jest.spyOn(loaded.node, 'execute');
	/** Its warnings in n8n's log, from when it has begun. */
	const log = async () => {
		await until(() => execute.mock.calls.length === 1);
		const { logger } = (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		const said = jest.spyOn(logger, 'warn').mockImplementation();
		return () => said.mock.calls.map(([text]) => text);
	};
	/** What its last try ends in. */
	const end = async (): Promise<Pick<Result, 'items' | 'error'>> => {
		try {
			const last = execute.mock.results.at(-1) as { value: Promise<INodeExecutionData[][]> };
			const [items = []] = await last.value;
			return { items, error: undefined };
		} catch (error) {
			return { items: [], error: error as Result['error'] };
		}
	};
	return { log, end };
}

/**
 * Cancels a run once it has come so far.
 *
 * @param afterwards done right after the cancel
 * @returns the node's error, as that of a run, its warnings in n8n's log, and how many milliseconds it went on
 */
export async function cancelWhen(
	engine: Engine,
	{ node, items }: { node: NodeOptions; items: IDataObject[] },
	hasCome: () => boolean,
	afterwards = () => {},
) {
	const watched = watchNode(engine);
	const running = engine.start([node], items);
	const log = await watched.log();
	await until(hasCome);
	const cancelledAt = performance.now();
	running.cancel();
	afterwards();
	await running.result;
	const took = performance.now() - cancelledAt;
	return { result: (await watched.end()) as Result, log: log(), took };
}

/** A sandbox for each test, and what the tests of a batch ask of it. */
export function useBatch() {
	const fixture = useSandbox();

	/** The creates of some items meet a fault, each of them whenever it is sent. */
	function creates(faultFor: (item: number, call: PlannedCall) => ReturnType<Plan>): void {
		fixture.meets('createJob', (call) => faultFor(itemOf(call), call));
	}

	const jobsOnService = () => [...fixture.sandbox.store.jobs.keys()];

	/** How often the create of each item was sent, by the numbers of the items. */
	function timesSent(): number[] {
		const times: number[] = [];
		for (const call of fixture.callsOf('createJob')) {
			times[itemOf(call)] = (times[itemOf(call)] ?? 0) + 1;
		}
		return times;
	}

	/** Cancels a run of a number of items: see cancelWhen. */
	const cancel = async (
		[node, count]: [NodeOptions, count: number],
		hasCome: () => boolean,
		afterwards?: () => void,
	) => await cancelWhen(fixture.engine, { node, items: numbered(count) }, hasCome, afterwards);

	return { fixture, creates, jobsOnService, timesSent, cancel };
}
