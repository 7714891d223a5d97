/*
 * `npm run demo` runs this node in n8n's engine against a sandbox of the service, and prints each step with its
 * requests. The exit status is 0 only if every step succeeds.
 */
import './support/quiet.cjs';

import type { Sandbox } from '../sandbox';
import { startSandbox } from '../sandbox';
import { change, clusterById, create, credentialFor, getAll } from './support/fixture';
import { Engine } from './support/run';

const ROWS = 12;
const BAD_ROW = 4;

const steps = [
	{
		title: 'Cluster: Get Many, the first running one',
		parameters: getAll({ limit: 1, filters: { phase: 'Running' } }),
		operations: ['login', 'listClusters'],
		result: 'cluster',
	},
	{
		title: 'Job: Create, on that cluster',
		parameters: create({
			displayName: 'Demo report',
			workCluster: clusterById('={{ $json.metadata.uid }}'),
		}),
		operations: ['createJob'],
		result: 'created job',
	},
	{
		title: 'Job: Stop, that job',
		parameters: change('stop', { jobId: '={{ $json.metadata.uid }}' }),
		operations: ['changeJobState'],
		result: 'stopped job',
	},
];

const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
	const start = Date.now();
	const sandbox = await startSandbox({ limits: { perSecond: 10, burst: 5 } });
	try {
		const engine = await Engine.load();
		engine.saveCredential(credentialFor(sandbox));
		print(`n8n's engine runs this node against a sandbox of the service at ${sandbox.url}`);
		await runSteps(engine, sandbox);
		await runBatch(engine, sandbox);
	} finally {
		await sandbox.close();
	}
	print(`\nAll of it worked, in ${((Date.now() - start) / 1000).toFixed(1)} s.`);
}

/** Runs a workflow of three nodes, each of which uses the output of the one before. */
async function runSteps(engine: Engine, sandbox: Sandbox): Promise<void> {
	const { error, run } = await engine.start(steps, [{}]).result;
	for (const [index, { title, operations, result }] of steps.entries()) {
		print(`\n${index + 1}. ${title}`);
		printRequests(sandbox, operations);
		const [item] = run.data.resultData.runData[`Node ${index + 1}`]?.[0]?.data?.main?.[0] ?? [];
		const { uid } = Object(item?.json.metadata) as { uid?: unknown };
		if (typeof uid !== 'string') throw new Error(error?.message ?? `There is no ${result}`);
		print(`   → ${result} ${uid}`);
	}
}

/** Runs a batch at a service with a rate limit. One row is wrong, and leaves through the error output. */
async function runBatch(engine: Engine, sandbox: Sandbox): Promise<void> {
	print(`\n4. Job: Create, for ${ROWS} rows. The service takes 10 requests per second, 5 at once,`);
	print(`   and row ${BAD_ROW} names a cluster that doesn't exist`);
	sandbox.clearCalls();
	const rows = Array.from({ length: ROWS }, (_, index) => ({
		name: `Row ${index + 1}`,
		cluster: index + 1 === BAD_ROW ? 'wc-999999' : 'wc-000001',
	}));
	const parameters = create({
		displayName: '={{ $json.name }}',
		workCluster: clusterById('={{ $json.cluster }}'),
	});
	const { branches, error } = await engine.run(
		{ parameters, onError: 'continueErrorOutput' },
		rows,
	);
	printRequests(sandbox, ['createJob']);
	const [created = [], failed = []] = branches;
	print(`   → success output: ${created.length} created jobs`);
	for (const { json } of failed) print(`   → error output: ${JSON.stringify(json, null, 2)}`);
	if (created.length !== ROWS - 1 || failed.length !== 1) {
		throw new Error(error?.message ?? `${created.length} jobs were created, not ${ROWS - 1}`);
	}
}

/** Prints the requests of these operations. Equal requests share a line. */
function printRequests(sandbox: Sandbox, operations: string[]): void {
	const counts = new Map<string, number>();
	for (const { operation, method, path, status } of sandbox.calls) {
		if (!operations.includes(operation)) continue;
		const line = `${method.padEnd(4)} ${path} → ${status ?? 'no answer'}`;
		counts.set(line, (counts.get(line) ?? 0) + 1);
	}
	for (const [line, count] of counts) print(`   ${count === 1 ? '' : `${count} × `}${line}`);
}

main().catch((error: unknown) => {
	process.stderr.write(
		`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`,
	);
	process.exitCode = 1;
});
