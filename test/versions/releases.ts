import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { pinnedVersion } from '../../host/install';

export const hostFolder = join(__dirname, '..', '..', 'host');

/** A release of n8n, and where it is installed. */
export interface Release {
	version: string;
	folder: string;
}

/** The releases that are tested, the oldest first: those in host/versions, and the host's own. */
export async function releases(): Promise<Release[]> {
	const folder = join(hostFolder, 'versions');
	const folders = [...readdirSync(folder).map((name) => join(folder, name)), hostFolder];
	const found = await Promise.all(
		folders.map(async (path) => ({ version: await pinnedVersion(path), folder: path })),
	);
	return found.sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }));
}
