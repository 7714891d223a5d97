import { StoppedBeforeSending } from '../../nodes/JobOrchestration/service/client';
import { createJob } from '../../nodes/JobOrchestration/service/calls/jobs';
import { cancelled } from '../../nodes/JobOrchestration/service/errors/failure';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import { clientWith } from '../pace/client';
import { statusFailure } from './statusFailure';

/*
 * A request that has its permit when another item fails, but was not sent, counts as not begun.
 */

const CALL = createJob({
	...{ namespace: 'default', workflowUid: 'w', workCluster: 'c', displayName: 'Report' },
	...{ group: '', inputs: [], outputs: [], type: 'normal', metadata: {} },
});

/** Sends a call whose attempts end with these failures. The execution is stopped during the last one. */
async function sendUntilStopped(...failures: Array<ReturnType<typeof cancelled>>) {
	const controller = new AbortController();
	const client = clientWith(new AccountLimiter(), async () => {
		const failure = failures.shift() ?? cancelled({ sent: false });
		if (failures.length === 0) controller.abort();
		return await Promise.resolve({ failure });
	});
	return await client
		.send(CALL, { maxRetries: 0, timeout: 1_000, signal: controller.signal })
		.catch((error: unknown) => error);
}

test('A request that was stopped before it was sent is not begun', async () => {
	expect(await sendUntilStopped(cancelled({ sent: false }))).toBeInstanceOf(StoppedBeforeSending);
});

test.each([
	['that was aborted after it was sent', [cancelled({ sent: true })]],
	['that was throttled before', [statusFailure(429), cancelled({ sent: false })]],
])('A request %s has failed', async (_, failures) => {
	expect(await sendUntilStopped(...failures)).toHaveProperty('problem');
});
