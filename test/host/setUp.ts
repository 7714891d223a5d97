import { join } from 'node:path';

import { emptyFolder } from '../../host/files';
import { prepareHost, startHost, type Host } from '../../host/host';
import { stopAll } from '../../host/process';

const projectHost = join(__dirname, '../../host');

/**
 * The folder in which the n8n under test is installed: that of the host, or of the release that test/versions/run.ts
 * sets.
 */
export const { N8N_UNDER_TEST: hostFolder = projectHost } = process.env;

/** Whether this is the n8n of the host, the newest one that is tested. */
export const isNewest = hostFolder === projectHost;

/** Returns the folders of a test's n8n. */
export const foldersOf = (name: string) => ({
	hostFolder,
	dataFolder: join(projectHost, '.data', name),
});

/** Returns the options of an n8n that looks so often for executions whose wait is over. */
export const looksEvery = (intervalMs: number) => ({
	nodeArgs: ['--require', join(__dirname, 'waitTracker.cjs')],
	env: { LOOKS_EVERY_MS: String(intervalMs) },
});

/** The properties of the n8n that all test files share. */
export interface Running extends Pick<Host, 'owner'> {
	/** The address of n8n, without a slash at its end. */
	url: string;
	logFile: string;
	dataFolder: string;
}

/** The set-up uses an environment variable, because Jest passes nothing else from it to the test files. */
const variable = 'N8N_OF_TESTS';

export function running(): Running {
	const text = process.env[variable];
	if (text === undefined) throw new Error('Run these tests by the jest.config.js in their folder');
	return JSON.parse(text) as Running;
}

/** Starts one n8n with the packed node for all tests. Its data folder is named after the suite. */
export default async function setUp(_: unknown, suite: { displayName: { name: string } }) {
	const folders = foldersOf(suite.displayName.name);
	const { dataFolder } = folders;
	await emptyFolder(dataFolder);
	await prepareHost(folders);
	const { n8n, owner } = await startHost(folders, looksEvery(1_000));
	const shared: Running = { url: n8n.url, logFile: n8n.logFile, owner, dataFolder };
	process.env[variable] = JSON.stringify(shared);
}

/** Stops the n8n that `setUp` has started. */
export const tearDown = stopAll;
