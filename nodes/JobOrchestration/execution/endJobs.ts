import { FieldValue } from '../parameters/fieldValue';
import { changeJobState, uidOf } from '../service/calls/jobs';
import { problemOf } from '../service/errors/problem';
import { titleOf } from '../texts';
import { inParallel } from './inParallel';
import type { PreparedRun, Run } from './run';

/**
 * Ends the jobs of all items if the node is set to do so. Each job is ended with the account that created it. Records
 * in each job whether it was ended.
 */
export async function endJobs(
	{ outcomes }: Run,
	{ clients, options, itemsAtOnce }: PreparedRun,
): Promise<void> {
	// After a cancel, n8n begins another try, which reads no options. What the previous try recorded remains valid.
	if (options === undefined) return;
	for (const outcome of outcomes) delete outcome?.createdJob?.cleanup;
	if (options.ifStopped === 'keep') return;
	const { ifStopped: verb } = options;
	clients.startAgain();
	await inParallel(outcomes, itemsAtOnce, async (outcome) => {
		const { account, createdJob: job, output } = outcome ?? {};
		if (job === undefined) return;
		try {
			const client = clients.of(account);
			if (client === undefined) {
				throw new Error(`It was created as ${account}: this run has another credential`);
			}
			const jobId = new FieldValue('Job ID', uidOf(output?.[0] ?? {})).pathId();
			const { namespace } = job;
			const change = { namespace, jobId, verb, idempotent: true, isOfNewJob: true };
			await client.send(changeJobState(change), options);
			job.cleanup = { operation: verb, success: true };
		} catch (error) {
			job.cleanup = { operation: verb, success: false, message: titleOf(problemOf(error)) };
		}
	});
}
