import type { INodeExecutionData } from 'n8n-workflow';

import { freePort } from '../../host/ports';
import type { Sandbox, SandboxOptions } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { credentialFor } from '../support/fixture';
import type { NodeOptions } from '../support/run';
import { Engine } from '../support/run';
import { batch } from './batch';

/*
 * For batches at a service that bears only so much, or is away. Nothing in their tests is timed: what is counted holds
 * on a busy machine, too, which may be too slow to meet a limit. How long it takes is measured by `npm run bench:pace`,
 * and in virtual time by test/pace.
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
			parts.sandbox = await startSandbox({ port: await freePort(), ...options });
			parts.engine = await Engine.load();
			parts.engine.saveCredential(credentialFor(parts.sandbox));
		},
		get sandbox() {
			return part(parts.sandbox);
		},
		get engine() {
			return part(parts.engine);
		},
	};
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
