import { cpus, totalmem } from 'node:os';

import { pinnedVersion } from '../../host/install';

/** Returns a sentence with the date, the version of n8n, the processors and the memory of this machine. */
export async function measuredOn(hostFolder: string): Promise<string> {
	const n8n = await pinnedVersion(hostFolder);
	const processor = `${cpus().length} × ${cpus()[0]?.model ?? '?'}`;
	const date = new Date().toISOString().slice(0, 10);
	return `Measured on ${date} with n8n ${n8n}, ${processor}, ${Math.round(totalmem() / 1e9)} GB.`;
}
