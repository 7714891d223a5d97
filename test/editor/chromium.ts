import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { chromium, type BrowserContext } from 'playwright-core';

import { Problem } from '../../host/problem';

/** Where Debian, Ubuntu and Google put it. */
const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Neither a sandbox, which root can't have, nor a display, nor calls to the internet. */
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
 * The Chromium of this machine.
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
 * Starts it without a window, for n8n's editor.
 * @param folder keeps what it has loaded and compiled, so that each file of tests after the first starts faster
 */
export async function openChromium(folder: string, baseURL: string): Promise<BrowserContext> {
	// What n8n's editor remembers of its user, such as an open panel, is another matter in each file.
	await rm(join(folder, 'Default', 'Local Storage'), { recursive: true, force: true });
	return await chromium.launchPersistentContext(folder, {
		executablePath: findChromium(),
		args: flags,
		baseURL,
		viewport: { width: 1280, height: 800 },
		colorScheme: 'light',
	});
}
