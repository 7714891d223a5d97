import { createHmac, randomBytes } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { accountOf } from './account';
import { Session } from './session';

/** How long an account that isn't used stays in memory: as long as what its limiter has learnt holds. */
const FORGET_AFTER_MS = 3_600_000;

/** By a hash of the account, so that no password is a key; the least recently used one first. */
const sessions = new Map<string, { session: Session; usedAt: number }>();
const secretOfProcess = randomBytes(32);

/**
 * The session of a credential's account. Sessions that nobody has used for an hour are forgotten, with their passwords.
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
		if (now < usedAt + FORGET_AFTER_MS) break;
		sessions.delete(oldKey);
	}
	return session;
}
