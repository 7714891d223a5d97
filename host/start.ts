import { join, relative } from 'node:path';

import { startSandbox, type Sandbox } from '../sandbox';
import { importCredential, importedPort, importExamples, runFirstExample } from './examples';
import { emptyFolder } from './files';
import { lockFolder } from './folderLock';
import { n8nFolders, prepareHost, startHost, type Host } from './host';
import { watchSources } from './nodePackage';
import { help, readOptions, SANDBOX_PORT, type Options } from './options';
import { freePort, loopback } from './ports';
import { Problem } from './problem';
import { stopAll } from './process';
import { step } from './step';

/** The port for debuggers. If it is taken, another one is used. */
const DEBUG_PORT = 9229;

/**
 * Runs the host until n8n ends, or until the end of the example with `--once`.
 * @throws Problem if a step fails, or if n8n ends by itself
 */
async function run({ once, port, sandboxPort, watch }: Options): Promise<void> {
	const folders = { dataFolder: join(__dirname, '.data', once ? 'once' : 'kept') };
	await lockFolder(folders.dataFolder);
	if (once) await emptyFolder(folders.dataFolder);
	const usedPort = await importedPort(n8nFolders(folders));
	const wantedPort = sandboxPort ?? usedPort ?? SANDBOX_PORT;
	const sandbox = await startSandbox({ port: await freePort(wantedPort) });
	const isNew = await prepareHost(folders);
	if (isNew) await firstRun(folders.dataFolder, sandbox);
	if (once) return;

	const debugPort = watch ? await freePort(DEBUG_PORT) : undefined;
	const host = await startHost(folders, {
		port,
		...(watch && { env: { N8N_DEV_RELOAD: 'true' } }),
		...(debugPort !== undefined && { nodeArgs: [`--inspect=${loopback}:${debugPort}`] }),
	});
	if (watch) await watchSources(n8nFolders(folders).userFolder);
	if (host.n8n.port !== port) print(`Port ${port} is taken, so the editor is at ${host.n8n.port}.`);
	if (sandbox.url !== addressOf(wantedPort)) {
		print(`Port ${wantedPort} is taken, so the sandbox is at ${sandbox.url}.`);
	}
	if (!isNew && usedPort !== undefined && sandbox.url !== addressOf(usedPort)) {
		const before = `The sandbox was at ${addressOf(usedPort)} at the first start.`;
		print(`${before} Its credential needs the Base URL ${sandbox.url} now.`);
	}
	print(describe(host, sandbox, debugPort));
	isUp = true;
	await host.n8n.ended;
	throw new Problem('n8n ended by itself.', host.n8n.logFile);
}

/**
 * Imports a credential for the sandbox and the examples, and runs one of them.
 * @throws Problem if the example fails or creates no job
 */
async function firstRun(dataFolder: string, sandbox: Sandbox): Promise<void> {
	const logFile = join(dataFolder, 'first-run.log');
	const folders = n8nFolders({ dataFolder });
	await step('Importing the credential and the examples', async () => {
		await importCredential(sandbox, folders, { logFile });
		await importExamples(folders, { logFile });
	});
	await step('Running a copy of examples/nightly-job.json', async () => {
		await runFirstExample(folders, { logFile });
	});
	const [job] = sandbox.store.jobs.values();
	if (job === undefined) throw new Problem('The example made no job.', logFile);
	print(
		[
			'\nThe job that it made, as the sandbox holds it:',
			`  uid           ${job.uid}`,
			`  name          ${job.name}`,
			`  display name  ${job.displayName}`,
			`  cluster       ${job.cluster.metadata.uid} (${job.cluster.name})`,
			`  status        ${job.state}\n`,
		].join('\n'),
	);
}

const addressOf = (port: number) => `http://${loopback}:${port}`;

function describe(
	{ n8n, owner }: Host,
	{ url, userName, password }: Sandbox,
	debugPort: number | undefined,
): string {
	return [
		`Editor    ${n8n.url}`,
		`          log in as ${owner.email} with ${owner.password}`,
		`Sandbox   ${url} (user ${userName}, password ${password})`,
		'          shows its jobs and clusters as they change',
		...(debugPort === undefined
			? []
			: [`Debugger  may be attached at ${loopback}:${debugPort} (Visual Studio Code: F5)`]),
		`Log       ${relative(process.cwd(), n8n.logFile)}`,
		'',
		'Ctrl-C stops n8n and the sandbox. The sandbox forgets its jobs, also those that executions wait for.',
	].join('\n');
}

function print(text: string): void {
	process.stdout.write(`${text}\n`);
}

/** Whether the editor can be used. */
let isUp = false;
let isStopping = false;

/** Stops all that was started, and ends this process. The sandbox ends with it. */
async function stop(status: number): Promise<void> {
	if (isStopping) return;
	isStopping = true;
	await stopAll();
	process.exit(status);
}

async function main(): Promise<void> {
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(name, () => {
			print('Stopping n8n and the sandbox …');
			void stop(isUp ? 0 : 130);
		});
	}
	// npm forwards SIGTERM only to the shell that it has started, and this shell ends without forwarding it.
	const { ppid } = process;
	if (process.env['npm_lifecycle_event'] !== undefined) {
		setInterval(() => process.ppid !== ppid && void stop(1), 500).unref();
	}
	try {
		const options = readOptions(process.argv.slice(2));
		if (options.help) print(help);
		else await run(options);
		await stop(0);
	} catch (error) {
		if (isStopping) return;
		process.stderr.write(`\n${explain(error)}\n`);
		await stop(1);
	}
}

function explain(error: unknown): string {
	if (!(error instanceof Problem)) return error instanceof Error ? `${error.stack}` : String(error);
	const { message, logFile } = error;
	return logFile === undefined
		? message
		: `${message}\nThe log: ${relative(process.cwd(), logFile)}`;
}

void main();
