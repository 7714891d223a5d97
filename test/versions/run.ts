import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { readJson } from '../../host/files';
import { installIfNeeded } from '../../host/install';
import { runNpm } from '../../host/process';
import { findRuntime } from '../../host/runtime';

const help = `Runs the tests of the node in the engine of another n8n, on a Node.js that this n8n asks for.

  npm run test:versions                    the oldest release's engine, which host/versions pins
  npm run test:versions -- newest          the newest release on npm
  npm run test:versions -- newest --all    also Retry, tools and the credential in its server, and its editor in a browser
`;

const root = join(__dirname, '..', '..');
const hostFolder = join(root, 'host');
const oldestFolder = join(hostFolder, 'versions', '1.123.81');

/**
 * The tests that `--all` adds: the server's behaviour that differs between releases, and the steps from an empty editor
 * to a job.
 */
const others = [
	[
		'--config',
		'test/host/jest.config.js',
		'test/host/retry.test.ts',
		'test/host/credential.test.ts',
	],
	[
		...['--config', 'test/editor/jest.config.js'],
		...['--testNamePattern', 'clicks|says in plain words|is dragged'],
		...['createJob', 'credential', 'preview'].map((name) => `test/editor/${name}.test.ts`),
	],
];

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			all: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	const [release = 'oldest'] = positionals;
	const isKnown = release === 'newest' || (release === 'oldest' && !values.all);
	if (values.help || !isKnown) {
		process.stdout.write(help);
		return;
	}
	const folder = release === 'newest' ? await newestFolder() : oldestFolder;
	await installIfNeeded(folder);
	const { node } = await findRuntime(folder);
	// n8n's server runs on its own Node.js, so the Node.js that runs these tests doesn't matter.
	const runs = [
		{ node, args: ['--config', 'test/versions/jest.config.js'] },
		...(values.all ? others : []).map((args) => ({ node: process.execPath, args })),
	];
	const jest = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js');
	const env = { ...process.env, N8N_UNDER_TEST: folder };
	for (const { node: executable, args } of runs) {
		const { status } = spawnSync(executable, [jest, ...args], { cwd: root, env, stdio: 'inherit' });
		if (status !== 0) process.exitCode = 1;
	}
}

/** Creates a folder like that of the host, but with the newest n8n, and returns its path. */
async function newestFolder(): Promise<string> {
	const folder = join(hostFolder, '.data', 'newest');
	await mkdir(folder, { recursive: true });
	const manifest = await readJson<object>(join(hostFolder, 'package.json'));
	const newest = { ...manifest, dependencies: { n8n: 'latest' } };
	await writeFile(join(folder, 'package.json'), JSON.stringify(newest));
	await copyFile(join(hostFolder, '.npmrc'), join(folder, '.npmrc'));
	const logFile = join(folder, '.data', 'install.log');
	await runNpm(['install', '--package-lock-only'], { cwd: folder, logFile });
	return folder;
}

void main();
