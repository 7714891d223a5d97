import { join } from 'node:path';

import type { Owner } from '../../host/api';
import { hostSteps, startHost } from '../../host/host';
import { emptyFolder } from '../../host/install';
import { Steps } from '../../host/steps';

const projectHost = join(__dirname, '../../host');

/**
 * The folder in which the n8n under test is installed: that of the host, or of the release that test/versions/run.ts
 * sets.
 */
export const { N8N_UNDER_TEST: hostFolder = projectHost } = process.env;

/** Whether this is the n8n of the host, the newest one that is tested. */
export const isNewest = hostFolder === projectHost;

/** Returns the data folder of a test's n8n. */
export const dataFolderOf = (name: string) => join(projectHost, '.data', name);

/** The properties of the n8n that all test files share. */
export interface Running {
	/** The address of n8n, without a slash at its end. */
	url: string;
	owner: Owner;
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

let stop = async (): Promise<void> => {};

/** Starts one n8n with the packed node for all tests. Its data folder is named after the suite. */
export default async function setUp(_: unknown, suite: { displayName: { name: string } }) {
	const dataFolder = await emptyFolder(dataFolderOf(suite.displayName.name));
	const host = await startHost({ hostFolder, dataFolder, port: 0, steps: new Steps(hostSteps) });
	({ stop } = host);
	const { url, logFile } = host.n8n;
	const shared: Running = { url, logFile, owner: host.owner, dataFolder };
	process.env[variable] = JSON.stringify(shared);
}

/** Stops the n8n that `setUp` has started. */
export async function tearDown(): Promise<void> {
	await stop();
}
