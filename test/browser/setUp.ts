import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { hostSteps, startHost } from '../../host/host';
import { emptyFolder, isInstalled } from '../../host/install';
import { Problem } from '../../host/problem';
import { Steps } from '../../host/steps';
import { findChromium, launchChromium } from './chromium';
import { imageFolder } from './images';
import { hand } from './running';
import { onTearDown } from './tearDown';

const hostFolder = join(__dirname, '..', '..', 'host');

/** Starts what all tests share, once: n8n with the packed node in it, and the browser. Installs nothing. */
export default async function setUp(): Promise<void> {
	const chromium = findChromium();
	if (!(await isInstalled(hostFolder))) {
		throw new Problem('n8n is not installed: `npm start -- --once` does that, in three minutes.');
	}
	const dataFolder = await emptyFolder(join(hostFolder, '.data', 'browser'));
	const failures = join(dataFolder, 'failures');
	await mkdir(failures, { recursive: true });
	await mkdir(imageFolder, { recursive: true });

	const host = await startHost({ dataFolder, port: 0, steps: new Steps(hostSteps) });
	onTearDown(async () => await host.stop());
	const browser = await launchChromium(chromium);
	onTearDown(async () => await browser.close());
	hand({
		n8nUrl: host.n8n.url,
		owner: host.owner,
		browser: browser.wsEndpoint(),
		failures,
	});
}
