import type { IExecuteFunctions } from 'n8n-workflow';

import { FieldValue } from '../parameters/fieldValue';
import { HttpClient } from '../service/http';
import { withCancelSignal } from '../service/n8nContext';
import { ServiceClient } from '../service/calls/serviceClient';
import type { CreatedJob } from './itemOutcome';
import { inParallel } from './inParallel';
import type { PreparedRun } from './prepare';

/** Stops or terminates jobs, if the node is set so, also after a cancel. Notes in each job what became of it. */
export async function endJobs(
	context: IExecuteFunctions,
	jobs: CreatedJob[],
	{ ifStopped, concurrency, calls }: PreparedRun,
): Promise<void> {
	const [first] = calls.values();
	if (ifStopped === undefined || first === undefined || jobs.length === 0) return;
	const httpClient = openClient(context, { timeout: first.options.timeout, concurrency });
	await inParallel(jobs, concurrency, async (job, beginNext) => {
		try {
			const options = { ...first.options, beginNext };
			const client = new ServiceClient(await httpClient, options);
			const jobId = new FieldValue('Job ID', job.uid).pathId();
			await client.changeJobState({ namespace: job.namespace, jobId, verb: ifStopped });
			job.cleanup = { operation: ifStopped, success: true };
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			job.cleanup = { operation: ifStopped, success: false, message };
		}
	});
}

/** An HTTP client that outlives a cancel. As jobs were created, the service has answered: if it is away, it is waited for. */
async function openClient(
	context: IExecuteFunctions,
	options: Parameters<typeof HttpClient.open>[1],
): Promise<HttpClient> {
	const httpClient = await HttpClient.open(withCancelSignal(context, undefined), options);
	httpClient.limiter.execution.wasAnswered = true;
	return httpClient;
}
