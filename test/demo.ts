/*
 * `npm run demo` runs this node in n8n's engine against a sandbox of the service, and prints each step with its
 * requests. The exit status is 0 only if every step succeeds.
 */
import './support/quiet.cjs';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Sandbox } from '../sandbox';
import { startSandbox } from '../sandbox';
import { change, clusterById, create, credentialFor, getAll } from './support/fixture';
import { Engine } from './support/run';

const ROWS = 12;
const BAD_ROW = 4;

const rows = Array.from({ length: ROWS }, (_, index) => ({
	name: `Row ${index + 1}`,
	cluster: index + 1 === BAD_ROW ? 'wc-999999' : 'wc-000001',
}));
const uid = '={{ $json.metadata.uid }}';

/** The steps, each of which gets the output of the one before, unless it has items of its own. */
const steps: Array<{ title: string; parameters: INodeParameters; items?: IDataObject[] }> = [
	{
		title: 'Cluster: Get Many, the first running one',
		parameters: getAll({ limit: 1, filters: { phase: 'Running' } }),
		items: [{}],
	},
	{
		title: 'Job: Create, on that cluster',
		parameters: create({ displayName: 'Demo report', workCluster: clusterById(uid) }),
	},
	{ title: 'Job: Stop, that job', parameters: change('stop', { jobId: uid }) },
	{
		title: `Job: Create, for ${ROWS} rows. The service takes 10 requests per second, 5 at once,
   and row ${BAD_ROW} names a cluster that doesn't exist`,
		parameters: create({
			displayName: '={{ $json.name }}',
			workCluster: clusterById('={{ $json.cluster }}'),
		}),
		items: rows,
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
		let output: IDataObject[] = [];
		for (const [index, { title, parameters, items = output }] of steps.entries()) {
			print(`\n${index + 1}. ${title}`);
			sandbox.clearCalls();
			const onError = 'continueErrorOutput';
			const { branches } = await engine.run({ parameters, onError }, items);
			printRequests(sandbox);
			const [done = [], failed = []] = branches.map((branch) => branch.map(({ json }) => json));
			print(`   → success output: ${done.length === 1 ? idOf(done[0]) : `${done.length} jobs`}`);
			for (const json of failed) print(`   → error output: ${JSON.stringify(json, null, 2)}`);
			const bad = items === rows ? 1 : 0;
			if (failed.length !== bad || done.length !== items.length - bad)
				throw new Error(`${done.length} of ${items.length} items have succeeded`);
			output = done;
		}
	} finally {
		await sandbox.close();
	}
	print(`\nAll of it worked, in ${((Date.now() - start) / 1000).toFixed(1)} s.`);
}

const idOf = (json?: IDataObject) => String((Object(json?.metadata) as { uid?: unknown }).uid);

/** Prints the requests. Equal requests share a line. */
function printRequests({ calls }: Sandbox): void {
	const counts = new Map<string, number>();
	for (const { method, path, status } of calls) {
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
