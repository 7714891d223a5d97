import type { IExecuteFunctions } from 'n8n-workflow';

import { FieldValue } from '../parameters/fieldValue';
import { HttpClient } from '../service/http';
import { ServiceClient } from '../service/calls/serviceClient';
import type { CreatedJob } from './itemOutcome';
import { inParallel } from './inParallel';
import type { PreparedRun } from './prepare';

/** Stops or terminates jobs, if the node is set so, also after a cancel. Notes in each job what became of it. */
export async function endJobs(
	context: IExecuteFunctions,
	jobs: CreatedJob[],
	{ calls: [first], concurrency }: PreparedRun,
): Promise<void> {
	if (first === undefined || first.options.ifStopped === 'keep' || jobs.length === 0) return;
	const { ifStopped: verb } = first.options;
	const client = HttpClient.open(context, { concurrency }).then((httpClient) => {
		// As jobs were created, the service has answered: if it is away, it is waited for.
		httpClient.limiter.execution.wasAnswered = true;
		return httpClient;
	});
	await inParallel(jobs, concurrency, async (job, beginNext) => {
		try {
			const service = new ServiceClient(await client, { ...first.options, beginNext });
			const jobId = new FieldValue('Job ID', job.uid).pathId();
			await service.changeJobState({ namespace: job.namespace, jobId, verb });
			job.cleanup = { operation: verb, success: true };
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			job.cleanup = { operation: verb, success: false, message };
		}
	});
}
