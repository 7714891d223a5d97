import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { readJson, writeJson } from './files';
import { N8nClient } from './n8nClient';

/** The login of the owner of an n8n. */
export interface Owner {
	email: string;
	password: string;
}

/** Returns the owner of the n8n in this folder; undefined if n8n has none yet. */
export async function ownerOf(userFolder: string): Promise<Owner | undefined> {
	const path = pathIn(userFolder);
	return existsSync(path) ? await readJson<Owner>(path) : undefined;
}

/**
 * Gives a new n8n an owner, so that the editor needs no set-up, and saves the owner in the user folder. The password is
 * random, because anyone who can log in to n8n can run programs on this machine.
 */
export async function setUpOwner(url: string, userFolder: string): Promise<Owner> {
	// n8n requires a capital letter and a digit.
	const password = `A1${randomBytes(9).toString('base64url')}`;
	const owner = { email: 'owner@example.com', password };
	const names = { firstName: 'Sandbox', lastName: 'Owner' };
	await new N8nClient(url).call('POST', '/rest/owner/setup', { ...owner, ...names });
	await saveOwner(userFolder, owner);
	return owner;
}

/** Saves the owner in a file that only this user can read. */
export async function saveOwner(userFolder: string, owner: Owner): Promise<void> {
	await writeJson(pathIn(userFolder), owner);
}

function pathIn(userFolder: string): string {
	return join(userFolder, 'owner.json');
}
