import { once } from 'node:events';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import { firstExample } from './examples';
import { firstRun, type FirstRun } from './firstRun';
import { defaultPort, hostSteps, startHost, type Host } from './host';
import { emptyFolder } from './install';
import { loopback } from './ports';
import { Problem, Stopped } from './problem';
import { Steps } from './steps';
import { stopSignal } from './stopSignal';

const help = `Starts an n8n with this node in it, beside a sandbox of the service. The first start runs an example.

  npm start                    leaves the editor open until Ctrl-C
  npm start -- --once          ends after the run, with exit status 0 only if it made a job
  npm start -- --port 5680     the editor's port (${defaultPort} otherwise); another if it is taken
  npm start -- --watch         also compiles what you change, and n8n loads it without a restart; a
                               debugger may be attached; npm run dev is the same

What you do in the editor is kept in host/.data/kept; later starts run nothing. With --once, n8n begins
with nothing each time.
`;

/**
 * Starts n8n and the sandbox, and stops them when the user wants to stop, or after the run with `--once`.
 * @returns the exit status
 * @throws Problem if the start fails, or if n8n ends by itself
 * @throws Stopped if the user stops during the start or the first run
 */
async function main(args: string[]): Promise<number> {
	const options = readOptions(args);
	if (options === undefined) {
		process.stdout.write(help);
		return 0;
	}
	const stop = stopSignal();
	const dataFolder = join(__dirname, '.data', options.once ? 'once' : 'kept');
	if (options.once) await emptyFolder(dataFolder);
	const steps = new Steps(hostSteps + 1);
	const { port, watch } = options;
	const host = await startHost({ dataFolder, port, watch, steps, signal: stop });
	try {
		if (host.api.isNew) {
			const title = `Running a copy of examples/${firstExample} by its Schedule Trigger`;
			const run = await steps.run(title, async () => await firstRun(host, stop));
			print(describeRun(run));
			const made = run.jobs.length > 0 && run.execution.status === 'success';
			if (options.once) return made ? 0 : 1;
		} else {
			steps.alreadyDone('Your work is kept, so no example is run');
			print(await describeKept(host));
		}
		print(describeHost(host, options.port));
		await Promise.race([host.n8n.ended, stop.aborted || once(stop, 'abort')]);
		if (!stop.aborted) throw new Problem('n8n ended by itself.', host.n8n.logFile);
		return 0;
	} finally {
		if (!options.once) print('Stopping n8n and the sandbox …');
		await host.stop();
	}
}

/**
 * Returns the options of the command line; undefined if it contains `--help`.
 * @throws Problem if an option is unknown or has a wrong value
 */
function readOptions(args: string[]) {
	const { once = false, port = String(defaultPort), watch = false, help } = parseOptions(args);
	if (help) return undefined;
	const number = Number(port);
	if (Number.isInteger(number) && number >= 1 && number <= 65_535)
		return { once, port: number, watch };
	throw new Problem(`--port wants a number from 1 to 65535, and got '${port}'.`);
}

function parseOptions(args: string[]) {
	const flag = { type: 'boolean' } as const;
	const options = { once: flag, port: { type: 'string' }, watch: flag, help: flag } as const;
	try {
		return parseArgs({ args, options }).values;
	} catch (error) {
		throw new Problem(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
	}
}

function describeRun({ jobs, execution, result, workflow }: FirstRun): string {
	const jobLines = jobs.flatMap(({ uid, name, displayName, cluster, state }) => [
		`  uid           ${uid}`,
		`  name          ${name}`,
		`  display name  ${displayName}`,
		`  cluster       ${cluster.metadata.uid} (${cluster.name})`,
		`  status        ${state}`,
	]);
	return [
		'',
		jobs.length > 0 ? 'The job that it made, as the sandbox holds it:' : 'It made no job.',
		...jobLines,
		`n8n's execution ${execution.id} of '${workflow.name}':`,
		`  started by    ${execution.mode}`,
		`  status        ${execution.status}`,
		...(result.error === undefined ? [] : [`  ${result.error}`]),
		'',
	].join('\n');
}

/** Describes the workflows of an n8n that has been started before. */
async function describeKept({ api, notBroughtIn }: Host): Promise<string> {
	if (notBroughtIn !== undefined) {
		return `\nThe sandbox's credential and the examples were not renewed: ${notBroughtIn}\n`;
	}
	const workflows = (await api.workflows()).filter(({ isArchived }) => !isArchived);
	const published = workflows.filter(({ active }) => active).map(({ name }) => `  ${name}`);
	return [
		'',
		`n8n holds ${workflows.length} workflows.`,
		...(published.length === 0 ? [] : ['Published, so their triggers fire:', ...published]),
		'',
	].join('\n');
}

function describeHost({ n8n, owner, sandbox, debugPort }: Host, askedPort: number): string {
	return [
		...(n8n.port === askedPort
			? []
			: [`Port ${askedPort} is taken, so the editor is at ${n8n.port}.`]),
		`Editor    ${n8n.url}`,
		`          log in as ${owner.email} with ${owner.password}`,
		`Sandbox   ${sandbox.url} (user ${sandbox.userName}, password ${sandbox.password})`,
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

function explain(error: unknown): string {
	if (!(error instanceof Problem)) return error instanceof Error ? `${error.stack}` : String(error);
	const log =
		error.logFile === undefined ? '' : `\nThe log: ${relative(process.cwd(), error.logFile)}`;
	return error.message + log;
}

main(process.argv.slice(2)).then(
	(status) => process.exit(status),
	(error: unknown) => {
		if (error instanceof Stopped) process.exit(130);
		process.stderr.write(`\n${explain(error)}\n`);
		process.exit(1);
	},
);
