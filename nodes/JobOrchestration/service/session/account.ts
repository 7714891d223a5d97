import { scryptSync } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { readBaseUrl } from './baseUrl';

/** Where to log in, and as whom: what makes two credentials the same to the service. */
export type Account = ReturnType<typeof accountOf>;

/** scrypt's work factor: 4 MB and about ten milliseconds. With less, a leaked hash would let passwords be guessed. */
const WORK = 4096;

/** @throws ServiceError if the Base URL can't be used */
export function accountOf(credentials: ICredentialDataDecryptedObject) {
	return {
		baseUrl: readBaseUrl(credentials.baseUrl),
		userName: String(credentials.userName ?? '').trim(),
		password: String(credentials.password ?? ''),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
}

/**
 * The hash of an account. n8n goes on sending a stored token after the address, the user or the password was edited, so it
 * is stored as `<hash>.<token>`. If the password is an expression (external secrets), the hash is stored without it, and
 * must not reveal it: hence scrypt.
 */
export function hashOf({ baseUrl, userName, password, ignoreSslIssues }: Account): string {
	const salt = JSON.stringify([baseUrl, userName, ignoreSslIssues]);
	return scryptSync(password, salt, 16, { N: WORK }).toString('base64url');
}

/** The token in what is stored, of any account; undefined without one. */
export function tokenOf(stored: unknown): string | undefined {
	if (typeof stored !== 'string') return undefined;
	return stored.slice(stored.indexOf('.') + 1) || undefined;
}
