import type { INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import type { NodeOptions, Result } from '../support/run';
import { batch, contextOf, itemOf, useBatch } from './batch';

/* Batches whose jobs are ended where they are stopped half-way. */

export const terminate = (options: INodeParameters = {}): NodeOptions => ({
	parameters: batch({ ifStopped: 'terminate', ...options }),
});

interface ListedJob {
	uid: string;
	cleanup?: { operation: string; success: boolean; message?: string };
}

export const listedIn = (result: Result) => contextOf(result).createdJobs as ListedJob[];
export const endingsIn = (result: Result) => listedIn(result).map(({ cleanup }) => cleanup);

/** A sandbox and an engine for each test, with what these tests ask of the service. */
export function useEndedBatch() {
	const used = useBatch();
	const { fixture } = used;

	const states = () => [...fixture.sandbox.store.jobs.values()].map(({ state }) => state);

	/** A fault of some creates, and one of the verb for some jobs, by the number of the item that made them. */
	function faults(
		ofCreate: (item: number) => Fault | undefined,
		ofVerb: (item: number, nOfOperation: number) => Fault | undefined,
	): void {
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'createJob') return ofCreate(itemOf(call));
			if (call.operation !== 'changeJobState') return undefined;
			const uid = call.path.split('/').at(-2) ?? '';
			const { displayName = '' } = fixture.sandbox.store.jobs.get(uid) ?? {};
			return ofVerb(Number(displayName.replace('Job ', '')), call.nOfOperation);
		});
	}

	return { ...used, states, faults };
}
