import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { accountOf } from './account';
import { Session } from './session';

/** Accounts in memory. Without a limit, a process would grow with each edit of a credential. */
const MAX_SESSIONS = 100;

/** The least recently used one first. */
const sessions = new Map<string, Session>();

/** The session of a credential's account. @throws ServiceError if the Base URL can't be used */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const account = accountOf(credentials);
	const key = JSON.stringify(account);
	const session = sessions.get(key) ?? new Session(account);
	sessions.delete(key);
	sessions.set(key, session);
	const [oldest = ''] = sessions.keys();
	if (sessions.size > MAX_SESSIONS) sessions.delete(oldest);
	return session;
}
