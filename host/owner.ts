import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Owner } from './api';
import { readJson } from './install';

/**
 * Returns the login of the owner of the n8n in this folder. Creates it if it doesn't exist, with a random password,
 * because anyone who can log in to n8n can run programs on this machine.
 */
export async function ownerOf(userFolder: string): Promise<Owner> {
	const path = join(userFolder, 'owner.json');
	if (existsSync(path)) return await readJson<Owner>(path);
	// n8n requires a capital letter and a digit.
	const owner = {
		email: 'owner@example.com',
		password: `A1${randomBytes(9).toString('base64url')}`,
	};
	await mkdir(userFolder, { recursive: true });
	await writeFile(path, JSON.stringify(owner), { mode: 0o600 });
	return owner;
}
