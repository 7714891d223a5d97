import type { IExecuteFunctions, INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import type { Fault, Plan, PlannedCall, When } from '../../sandbox';
import { answer } from '../support/answer';
import { create, numbered, useSandbox } from '../support/fixture';
import type { Engine, NodeOptions, Result } from '../support/run';
import { until } from '../sandbox/client';

/*
 * Helpers for batches of creates, some of which get faults.
 */

/** Returns the parameters of a create whose jobs are named after the numbers of the items. A tool's items have none. */
export const batch = (options: INodeParameters = {}) =>
	create({ displayName: '=Job {{ $json.n ?? 0 }}', options });

/** Returns a node that creates these jobs one at a time. `fields` replace those of `batch`. */
export const oneByOne = (options: INodeParameters = {}, fields: INodeParameters = {}) => ({
	parameters: { ...batch({ concurrency: 1, ...options }), ...fields },
});

/** Returns a node that creates these jobs, and in which the error of an item doesn't end the others. */
export const continuing = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

/** Returns the settings that turn on Retry On Fail. */
export const tries = (maxTries = 3): Partial<INode> => ({
	...{ retryOnFail: true, maxTries, waitBetweenTries: 1 },
});

/** Returns the number of the item that a create belongs to. */
export function itemOf({ body }: Pick<PlannedCall, 'body'>): number {
	const { job } = body as { job: { displayName: string } };
	return Number(job.displayName.replace('Job ', ''));
}

export const refused: Fault = answer(400, { message: 'no' });
/** Returns a function that refuses the create of one item. */
export const refusedAt = (refusedItem: number) => (item: number) =>
	item === refusedItem ? refused : undefined;
export const brokenAfter: Fault = { kind: 'break', when: 'afterActing' };

/** Returns the context of the error that ended a run. */
export function contextOf({ error }: Result): Record<string, unknown> {
	return error !== undefined && 'context' in error ? error.context : {};
}

/** Returns the numbers of the items whose job may exist, as the error lists them. */
export function uncertainIn(result: Result): number[] {
	const { uncertainItems = [] } = contextOf(result);
	return (uncertainItems as Array<{ itemIndex: number }>).map(({ itemIndex }) => itemIndex);
}

/** Returns the IDs of the created jobs that the error lists. */
export function createdIn(result: Result): string[] {
	const { createdJobs = [] } = contextOf(result);
	return (createdJobs as Array<{ uid: string }>).map(({ uid }) => uid);
}

/** Returns the JSON of the error items in the node's output. */
export const errorsIn = ({ items }: Pick<Result, 'items'>) =>
	items.map(({ json }) => json).filter(({ error }) => error !== undefined);

/** Returns the display names in the node's output. */
export const namesIn = ({ items }: Result) => items.map(({ json }) => json.displayName);

/** Returns a promise, a function that resolves it, and a fault that delays a call until then. */
export function gate(when: When = 'beforeActing') {
	let open = (): void => {};
	const opened = new Promise<void>((resolve) => (open = resolve));
	const fault: Fault = { kind: 'wait', when, until: opened };
	return { opened, open, fault };
}

/** Waits for as many turns as the node needs at most to read an answer of the sandbox and to send what follows from it. */
export async function turns(): Promise<void> {
	for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** Observes the node during a run, because n8n keeps neither the error nor the output of a cancelled node. */
export function watchNode({ loaded }: Engine) {
	const execute = jest.spyOn(loaded.node, 'execute');
	/** Waits until the node has started. Returns a function that returns its later warnings in n8n's log. */
	const log = async () => {
		await until(() => execute.mock.calls.length === 1);
		const { logger } = (execute as jest.Mock).mock.contexts[0] as IExecuteFunctions;
		const said = jest.spyOn(logger, 'warn').mockImplementation();
		return () => said.mock.calls.map(([text]) => text);
	};
	/** Returns the result of the node's last try. */
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

/** Gives each test a sandbox, and returns functions for tests of batches. */
export function useBatch() {
	const fixture = useSandbox();

	/** Plans faults for the creates, by item. An item gets its fault each time that its create is sent. */
	function creates(faultFor: (item: number, call: PlannedCall) => ReturnType<Plan>): void {
		fixture.meets('createJob', (call) => faultFor(itemOf(call), call));
	}

	const jobsOnService = () => [...fixture.sandbox.store.jobs.keys()];

	/** Returns how often the create of each item was sent, by the number of the item. */
	function timesSent(): number[] {
		const times: number[] = [];
		for (const call of fixture.callsOf('createJob')) {
			times[itemOf(call)] = (times[itemOf(call)] ?? 0) + 1;
		}
		return times;
	}

	/**
	 * Cancels a run with `count` items as soon as `hasCome` returns true.
	 *
	 * @param afterwards called directly after the cancel
	 * @returns the error of the node, in the shape of a run's result, and its warnings in n8n's log
	 */
	async function cancel(
		[node, count]: [NodeOptions, count: number],
		hasCome: () => boolean,
		afterwards = () => {},
	) {
		const watched = watchNode(fixture.engine);
		const running = fixture.engine.start([node], numbered(count));
		const log = await watched.log();
		await until(hasCome);
		running.cancel();
		afterwards();
		await running.result;
		return { result: (await watched.end()) as Result, log: log() };
	}

	return { fixture, creates, jobsOnService, timesSent, cancel };
}
