import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Owner } from './api';
import { readJson } from './install';

/**
 * The owner of the n8n in this folder. The password is made when the folder is new: a user of an
 * n8n can run programs on its machine, so it must not be a known one.
 */
export async function ownerOf(userFolder: string): Promise<Owner> {
	const path = join(userFolder, 'owner.json');
	if (existsSync(path)) return await readJson<Owner>(path);
	// n8n wants a capital and a digit.
	const owner = {
		email: 'owner@example.com',
		password: `A1${randomBytes(9).toString('base64url')}`,
	};
	await mkdir(userFolder, { recursive: true });
	await writeFile(path, JSON.stringify(owner), { mode: 0o600 });
	return owner;
}
