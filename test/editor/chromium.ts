import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { chromium, type BrowserContext } from 'playwright-core';

import { Problem } from '../../host/problem';

/** The paths at which Debian, Ubuntu and Google install Chromium or Chrome. */
const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Turns off the sandbox, which root can't use, the GPU, and background connections to the internet. */
const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/**
 * Returns the path of Chromium on this machine.
 *
 * @throws Problem if it isn't installed
 */
function findChromium(): string {
	const named = process.env['CHROMIUM_PATH'];
	const found = [named ?? [], usualPlaces].flat().find((path) => existsSync(path));
	if (found !== undefined) return found;
	throw new Problem(
		`Chromium is missing: none of ${usualPlaces.join(', ')} is there. Install it ` +
			'(Debian: apt-get install chromium), or set CHROMIUM_PATH to where it is.',
	);
}

/**
 * Starts Chromium without a window, for n8n's editor.
 *
 * @param folder folder for the cache, so that Chromium starts faster for all test files but the first
 */
export async function openChromium(folder: string, baseURL: string): Promise<BrowserContext> {
	// Each test file starts without the state that n8n's editor stores for its user, such as an open panel.
	await rm(join(folder, 'Default', 'Local Storage'), { recursive: true, force: true });
	return await chromium.launchPersistentContext(folder, {
		executablePath: findChromium(),
		args: flags,
		baseURL,
		viewport: { width: 1280, height: 800 },
		colorScheme: 'light',
	});
}
