import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { accountOf } from './account';
import { Session } from './session';

/** Accounts in memory. Without a limit, a process would grow with each edit of a credential. */
const MAX_SESSIONS = 100;

const sessions = new Map<string, Session>();

/** The session of a credential's account. The least recently used ones are forgotten, if possible idle ones. */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const account = accountOf(credentials);
	const key = JSON.stringify({ ...account, baseUrl: undefined });
	const session = sessions.get(key) ?? new Session(account);
	sessions.delete(key);
	if (sessions.size >= MAX_SESSIONS) {
		const [oldest = ''] = sessions.keys();
		const idle = [...sessions].find(([, other]) => other.isIdle);
		sessions.delete(idle?.[0] ?? oldest);
	}
	sessions.set(key, session);
	return session;
}
