import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { runCommand, runNpm } from '../../host/command';
import { installIfNeeded, readJson } from '../../host/install';
import { Problem, Stopped } from '../../host/problem';
import { findRuntime } from '../../host/runtime';
import { Steps } from '../../host/steps';
import { stopSignal } from '../../host/stopSignal';
import type { Release } from './releases';
import { hostFolder, releases } from './releases';

const help = `Runs the node in several releases of n8n, each on a Node.js that it asks for: the tests in n8n's engine,
its Retry button, tools and credential in a server, and the way from an empty editor to a job in a browser. Installs
those releases that are missing.

  npm run test:versions                     all of them, and writes docs/versions.md
  npm run test:versions -- oldest newest    these, named so or by their number
`;

/** What the browser does in each release: some of createJob.test.ts, and all of the others. */
const editorTests = ['createJob', 'credential', 'preview'];
const editorTestNames = 'clicks|says in plain words|is dragged|shows what it gives';

/** What is done with each release's server. */
const serverTests = ['retry', 'credential'];

const projectFolder = join(__dirname, '..', '..');
const docsPath = join(projectFolder, 'docs', 'versions.md');

/** How a set of tests ended. */
interface Outcome {
	passed: number;
	failed: number;
}

/** A line of the table. */
interface Row {
	version: string;
	/** The release of its engine, the package n8n-core. */
	engine: string;
	node: string;
	inEngine: Outcome;
	inServer: Outcome;
	inEditor: Outcome;
}

/** Aborted when a person wants this to end, with all that it has started. */
const signal = stopSignal();

/** The part of what jest writes with --json that is read here. */
interface JestReport {
	numPassedTests: number;
	numFailedTests: number;
	numRuntimeErrorTestSuites: number;
	testResults: Array<{
		name: string;
		assertionResults: Array<{ fullName: string; status: string; failureMessages: string[] }>;
		message: string;
	}>;
}

/** @returns the exit status */
async function main(args: string[]): Promise<number> {
	if (args.includes('--help')) {
		print(help);
		return 0;
	}
	const all = await releases();
	const chosen = args.length === 0 ? all : choose(all, args);
	const steps = new Steps(1 + 4 * chosen.length);
	const buildLog = join(hostFolder, '.data', 'versions', 'build.log');
	await steps.run('Building the node', async () => {
		await runNpm(['run', 'build'], { cwd: projectFolder, logFile: buildLog, signal });
	});
	const rows: Row[] = [];
	for (const release of chosen) rows.push(await runIn(release, steps));

	print(`\n${table(rows)}\n`);
	if (chosen.length === all.length) {
		const docs = await readFile(docsPath, 'utf8');
		await writeFile(docsPath, docs.replace(/^\|.*(?:\n\|.*)*/m, table(rows)));
		print(`Written to ${relative(process.cwd(), docsPath)}.`);
	}
	const outcomes = rows.flatMap(({ inEngine, inServer, inEditor }) => [
		inEngine,
		inServer,
		inEditor,
	]);
	const { passed, failed } = outcomes.reduce((sum, next) => ({
		passed: sum.passed + next.passed,
		failed: sum.failed + next.failed,
	}));
	print(`Tests: ${failed > 0 ? `${failed} failed, ` : ''}${passed} passed`);
	return failed > 0 || outcomes.some((outcome) => outcome.passed === 0) ? 1 : 0;
}

function choose(all: Release[], names: string[]): Release[] {
	const byName = (name: string) => {
		if (name === 'oldest') return all.at(0);
		if (name === 'newest') return all.at(-1);
		return all.find(({ version }) => version === name);
	};
	const chosen = names.map((name) => {
		const release = byName(name);
		if (release !== undefined) return release;
		const versions = all.map(({ version }) => version).join(', ');
		throw new Problem(`There is no release '${name}' here, but: oldest, newest, ${versions}.`);
	});
	return all.filter((release) => chosen.includes(release));
}

async function runIn({ version, folder }: Release, steps: Steps): Promise<Row> {
	const logFolder = join(folder, '.data', 'versions');
	await rm(logFolder, { recursive: true, force: true });
	await mkdir(logFolder, { recursive: true });

	const logFile = join(logFolder, 'install.log');
	await installIfNeeded({ hostFolder: folder, logFile, signal, sqliteFrom: hostFolder }, steps);
	const { node } = await findRuntime(folder);
	const nodeVersion = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
	const where = `in n8n ${version} on Node.js ${nodeVersion.slice(1)}`;
	const engineManifest = require.resolve('n8n-core/package.json', {
		paths: [join(folder, 'node_modules', 'n8n')],
	});

	const jest = (name: string, command: string, args: string[]) => async () =>
		await runJest(command, args, folder, join(logFolder, `${name}.log`));
	return {
		version,
		engine: (await readJson<{ version: string }>(engineManifest)).version,
		node: nodeVersion.slice(1),
		inEngine: await steps.run(
			`The tests of the engine ${where}`,
			jest('engine', node, ['--config', 'test/versions/jest.config.js']),
		),
		// n8n runs on its own Node.js; the one that drives it doesn't matter.
		inServer: await steps.run(
			`Retry, tools and the credential ${where}`,
			jest('server', process.execPath, [
				...['--config', 'test/host/jest.config.js'],
				...serverTests.map((name) => `test/host/${name}.test.ts`),
			]),
		),
		inEditor: await steps.run(
			`From an empty editor to a job ${where}`,
			jest('editor', process.execPath, [
				...['--config', 'test/browser/jest.config.js', '--testNamePattern', editorTestNames],
				...editorTests.map((name) => `test/browser/${name}.test.ts`),
			]),
		),
	};
}

/** Runs jest on the n8n of this folder, and says which tests fail. */
async function runJest(
	node: string,
	args: string[],
	folder: string,
	logFile: string,
): Promise<Outcome> {
	const outputFile = `${logFile}.json`;
	const jestFolder = dirname(require.resolve('jest/package.json'));
	const command = [
		join(jestFolder, 'bin', 'jest.js'),
		...args,
		'--json',
		'--outputFile',
		outputFile,
	];
	const env = { N8N_UNDER_TEST: folder };
	try {
		await runCommand(node, command, { cwd: projectFolder, logFile, env, signal });
	} catch (error) {
		if (error instanceof Stopped) throw error;
		// Jest fails where a test does, and then it has written what; elsewhere nothing has been run.
		const report = await readJson<JestReport>(outputFile).catch(() => undefined);
		const failed = report === undefined ? ['  ✕ none could be run'] : failuresIn(report);
		print(`${failed.join('\n')}\nThe log: ${relative(process.cwd(), logFile)}`);
		if (report === undefined) return { passed: 0, failed: 1 };
	}
	const report = await readJson<JestReport>(outputFile);
	return {
		passed: report.numPassedTests,
		failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
	};
}

/** The tests that failed, each by its name and why, and the files that could not be run. */
function failuresIn({ testResults }: JestReport): string[] {
	return testResults.flatMap(({ name, assertionResults, message }) => {
		const failed = assertionResults.filter(({ status }) => status === 'failed');
		const file = relative(projectFolder, name);
		if (assertionResults.length === 0) return [`  ✕ ${file}\n${message}`];
		return failed.map(
			({ fullName, failureMessages }) => `  ✕ ${file}: ${fullName}\n${failureMessages.join('\n')}`,
		);
	});
}

function table(rows: Row[]): string {
	const lines = rows.map(({ version, engine, node, inEngine, inServer, inEditor }) => [
		version,
		engine,
		node,
		inWords(inEngine),
		inWords(inServer),
		inWords(inEditor),
	]);
	const head = [
		'n8n',
		'its engine (n8n-core)',
		'Node.js',
		'Tests in the engine',
		'In a server',
		'In the editor',
	];
	return [head, head.map(() => '---'), ...lines]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');
}

function inWords({ passed, failed }: Outcome): string {
	return failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`;
}

function print(text: string): void {
	process.stdout.write(`${text}\n`);
}

main(process.argv.slice(2)).then(
	(status) => process.exit(status),
	(error: unknown) => {
		if (error instanceof Stopped) process.exit(130);
		const log = error instanceof Problem && error.logFile ? `\nThe log: ${error.logFile}` : '';
		const says =
			error instanceof Problem
				? error.message
				: String(error instanceof Error ? error.stack : error);
		process.stderr.write(`\n${says}${log}\n`);
		process.exit(1);
	},
);
