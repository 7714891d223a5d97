import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { hostSteps, startHost } from '../../host/host';
import { emptyFolder, isInstalled } from '../../host/install';
import { Problem } from '../../host/problem';
import { Steps } from '../../host/steps';
import { findChromium, launchChromium } from './chromium';
import { hand } from './running';
import { onTearDown } from './tearDown';

const projectFolder = join(__dirname, '..', '..');

/** Another n8n than the host's, where one is named: test/versions/run.ts does that. */
const otherHostFolder = process.env['N8N_UNDER_TEST'];
const hostFolder = otherHostFolder ?? join(projectFolder, 'host');

/** Starts what all tests share, once: n8n with the packed node in it, and the browser. Installs nothing. */
export default async function setUp(): Promise<void> {
	const chromium = findChromium();
	if (!(await isInstalled(hostFolder))) {
		throw new Problem('n8n is not installed: `npm start -- --once` does that, in three minutes.');
	}
	const dataFolder = await emptyFolder(join(hostFolder, '.data', 'browser'));
	const failures = join(dataFolder, 'failures');
	await mkdir(failures, { recursive: true });
	// The docs show the host's n8n.
	const images = join(otherHostFolder === undefined ? projectFolder : dataFolder, 'docs', 'images');
	await mkdir(images, { recursive: true });

	const host = await startHost({ hostFolder, dataFolder, port: 0, steps: new Steps(hostSteps) });
	onTearDown(async () => await host.stop());
	const browser = await launchChromium(chromium);
	onTearDown(async () => await browser.close());
	hand({
		n8nUrl: host.n8n.url,
		owner: host.owner,
		browser: browser.wsEndpoint(),
		failures,
		images,
	});
}
