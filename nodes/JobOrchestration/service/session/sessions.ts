import { createHmac, randomBytes } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { MEMORY_MS } from '../pace/limiter';
import { accountOf } from './account';
import { Session } from './session';

/** By a hash of the account, so that no password is a key; the least recently used one first. */
const sessions = new Map<string, { session: Session; usedAt: number }>();
const secretOfProcess = randomBytes(32);

/**
 * The session of a credential's account. Those that nobody has used for an hour are forgotten, with their passwords, as is
 * what their limiters have learnt.
 *
 * @throws ServiceError if the Base URL can't be used
 */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const now = performance.now();
	const account = accountOf(credentials);
	const key = createHmac('sha256', secretOfProcess)
		.update(JSON.stringify(account))
		.digest('base64');
	const session = sessions.get(key)?.session ?? new Session(account);
	sessions.delete(key);
	sessions.set(key, { session, usedAt: now });
	for (const [oldKey, { usedAt }] of sessions) {
		if (now < usedAt + MEMORY_MS) break;
		sessions.delete(oldKey);
	}
	return session;
}
