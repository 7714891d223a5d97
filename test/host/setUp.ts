import { join } from 'node:path';

import type { Owner } from '../../host/api';
import { hostSteps, startHost } from '../../host/host';
import { emptyFolder } from '../../host/install';
import { Steps } from '../../host/steps';

const projectHost = join(__dirname, '../../host');

/** Where the n8n under test is installed: the host's own, or the release that test/versions/run.ts names. */
export const { N8N_UNDER_TEST: hostFolder = projectHost } = process.env;

/** Whether that n8n is the host's own, the newest that is tested. */
export const isNewest = hostFolder === projectHost;

/** Where a test's n8n keeps its data. */
export const dataFolderOf = (name: string) => join(projectHost, '.data', name);

/** What all test files share. */
export interface Running {
	/** Where n8n is, without a slash at the end. */
	url: string;
	owner: Owner;
	logFile: string;
	dataFolder: string;
}

/** By the environment, the only thing that Jest hands on from its set-up to the test files. */
const variable = 'N8N_OF_TESTS';

export function running(): Running {
	const text = process.env[variable];
	if (text === undefined) throw new Error('Run these tests by the jest.config.js in their folder');
	return JSON.parse(text) as Running;
}

let stop = async (): Promise<void> => {};

/** Starts an n8n with the packed node, once, in a data folder that is named after the suite. */
export default async function setUp(_: unknown, suite: { displayName: { name: string } }) {
	const dataFolder = await emptyFolder(dataFolderOf(suite.displayName.name));
	const host = await startHost({ hostFolder, dataFolder, port: 0, steps: new Steps(hostSteps) });
	({ stop } = host);
	const { url, logFile } = host.n8n;
	const shared: Running = { url, logFile, owner: host.owner, dataFolder };
	process.env[variable] = JSON.stringify(shared);
}

/** Stops what `setUp` has started. */
export async function tearDown(): Promise<void> {
	await stop();
}
