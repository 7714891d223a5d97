import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import { startSandbox, type Sandbox } from '../sandbox';
import { importCredential, importedPort, importExamples, runFirstExample } from './examples';
import { emptyFolder } from './files';
import { lockFolder } from './folderLock';
import { n8nFolders, prepareHost, startHost, type Host } from './host';
import { watchSources } from './nodePackage';
import { freePort, loopback } from './ports';
import { Problem } from './problem';
import { stopAll } from './process';
import { step } from './step';

/** The port of the editor, of the sandbox and for debuggers. If one is taken, another is used. */
const EDITOR_PORT = 5678;
const SANDBOX_PORT = 8765;
const DEBUG_PORT = 9229;

const help = `Starts an n8n with this node in it, beside a sandbox of the service. The first start runs an example.

  npm start                    leaves the editor open until Ctrl-C
  npm start -- --once          only runs the example; the exit status is 0 only if it made a job
  npm start -- --port 5680     the editor's port (${EDITOR_PORT} otherwise); another if it is taken
  npm start -- --watch         also compiles what you change, and n8n loads it without a restart; a
                               debugger may be attached; npm run dev is the same

What you do in the editor is kept in host/.data/kept; later starts run nothing. With --once, n8n begins
with nothing each time.
`;

type Options = ReturnType<typeof readOptions>;

/**
 * Returns the options of the command line.
 * @throws Problem if an option is unknown or has a wrong value
 */
function readOptions(args: string[]) {
	try {
		const flag = { type: 'boolean', default: false } as const;
		const port = { type: 'string', default: String(EDITOR_PORT) } as const;
		const options = { once: flag, watch: flag, help: flag, port };
		const { values } = parseArgs({ args, options });
		const number = Number(values.port);
		if (Number.isInteger(number) && number >= 1 && number <= 65_535)
			return { ...values, port: number };
	} catch (error) {
		throw new Problem(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
	}
	throw new Problem('--port wants a number from 1 to 65535.');
}

/**
 * Runs the host until n8n ends, or until the end of the example with `--once`.
 * @throws Problem if a step fails, or if n8n ends by itself
 */
async function run({ once, port, watch }: Options): Promise<void> {
	const folders = { dataFolder: join(__dirname, '.data', once ? 'once' : 'kept') };
	await lockFolder(folders.dataFolder);
	if (once) await emptyFolder(folders.dataFolder);
	const usedPort = await importedPort(n8nFolders(folders));
	const sandbox = await startSandbox({ port: await freePort(usedPort ?? SANDBOX_PORT) });
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
	if (!isNew && sandbox.url !== `http://${loopback}:${usedPort}`) {
		print(
			`Port ${usedPort} is taken. Change the Base URL in the sandbox's credential to ${sandbox.url}.`,
		);
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
