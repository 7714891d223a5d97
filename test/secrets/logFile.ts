import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * n8n's log, of everything that it has to say, in a file. n8n reads the environment when its engine is
 * loaded: this module has to be imported before it.
 */
const folder = mkdtempSync(join(tmpdir(), 'n8n-log-'));
const file = join(folder, 'n8n.log');

process.env.N8N_LOG_LEVEL = 'debug';
process.env.N8N_LOG_OUTPUT = 'file';
process.env.N8N_LOG_FILE_LOCATION = file;

/** How many bytes of the file have been read. */
let readSoFar = 0;

/** What has been logged since the last call, up to a line that has a certain word in it. */
export async function logUpTo(word: string): Promise<string> {
	let text = '';
	while (!text.includes(word)) {
		await new Promise((resolve) => setImmediate(resolve));
		text += readOn();
	}
	return text;
}

export function removeLog(): void {
	rmSync(folder, { recursive: true, force: true });
}

/** What has been added to the file. */
function readOn(): string {
	if (!existsSync(file)) return '';
	const bytes = Buffer.alloc(statSync(file).size - readSoFar);
	const handle = openSync(file, 'r');
	readSync(handle, bytes, 0, bytes.length, readSoFar);
	closeSync(handle);
	readSoFar += bytes.length;
	return bytes.toString();
}
