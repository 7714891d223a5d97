import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

import type { INodeExecutionData } from 'n8n-workflow';

import { freePort } from '../../host/ports';
import type { OperationId, Sandbox, SandboxOptions } from '../../sandbox';
import { credentialFor, newSandbox } from '../support/fixture';
import { clockStandsFor } from '../support/hurry';
import type { NodeOptions } from '../support/run';
import { Engine } from '../support/run';
import { batch } from './batch';

/*
 * For batches at a service that bears only so much, or is away. Their tests count, so that they hold on a busy machine, too. How
 * long it takes is measured by `npm run bench:pace`, and in virtual time by test/pace.
 */

/** A sandbox that a test starts as it wants it, and n8n's engine with a credential for it. */
export function useService() {
	const parts: { sandbox?: Sandbox; engine?: Engine } = {};
	const part = <Part>(value: Part | undefined): Part => {
		if (value === undefined) throw new Error('The test has not started it');
		return value;
	};
	afterEach(async () => {
		jest.restoreAllMocks();
		await parts.sandbox?.close();
	});
	return {
		async start(options: SandboxOptions): Promise<void> {
			parts.sandbox = await newSandbox({ port: await freePort(), ...options });
			parts.engine = await Engine.load();
			parts.engine.saveCredential(credentialFor(parts.sandbox));
		},
		get sandbox() {
			return part(parts.sandbox);
		},
		get engine() {
			return part(parts.engine);
		},
		/** The calls of one operation that the sandbox has seen. */
		callsOf: (name: OperationId) =>
			part(parts.sandbox).calls.filter(({ operation }) => operation === name),
	};
}

/** Takes the service away until a number of requests to paths with this end have not reached it. */
export async function awayUntil(
	{ sandbox }: { sandbox: Sandbox },
	end: string,
	requests: number,
): Promise<void> {
	let missed = 0;
	const onRequest = (message: unknown) => {
		const { path } = (message as { request: ClientRequest }).request;
		if (!path.endsWith(end) || (missed += 1) < requests) return;
		unsubscribe('http.client.request.start', onRequest);
		void clockStandsFor(sandbox.comeBack());
	};
	await sandbox.goAway();
	subscribe('http.client.request.start', onRequest);
}

/** A batch of creates, in which an item's error does not end the others. */
export const creates = (options = {}): NodeOptions => ({
	parameters: batch(options),
	onError: 'continueRegularOutput',
});

/** How many of the items have a job, how many may have one, and how many certainly have none. */
export function counted(items: INodeExecutionData[]) {
	const errors = items.filter(({ json }) => json.error !== undefined);
	const mayExist = errors.filter(({ json }) => Object(json.error).jobMayExist === true).length;
	return { made: items.length - errors.length, mayExist, failed: errors.length - mayExist };
}

export const ONE_IN_AN_HOUR = 1 / 3_600;
