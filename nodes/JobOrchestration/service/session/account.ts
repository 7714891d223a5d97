import { scryptSync } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { ServiceError } from '../errors/problem';

/**
 * The Base URL, user, password and certificate check of a credential. Two credentials with equal accounts are the same
 * to the service.
 */
export type Account = ReturnType<typeof accountOf>;

/**
 * scrypt's work factor. A hash takes 4 MB of memory and about ten milliseconds: enough that passwords can't be guessed
 * from a leaked hash.
 */
const WORK = 4096;

/**
 * Reads the account of a credential.
 *
 * @throws ServiceError if the Base URL can't be used, or the user name or the password is empty
 */
export function accountOf(credentials: ICredentialDataDecryptedObject) {
	return {
		baseUrl: readBaseUrl(credentials.baseUrl),
		userName: notEmpty('Username', String(credentials.userName ?? '').trim()),
		password: notEmpty('Password', String(credentials.password ?? '')),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
}

/**
 * Returns the text of a required field.
 *
 * @param field label of the field, which the error names
 * @throws ServiceError if the text is empty
 */
function notEmpty(field: string, text: string): string {
	if (text !== '') return text;
	const advice =
		"Open the credential and fill it in. n8n's source control keeps expressions in credentials, but not texts.";
	throw new ServiceError({ kind: 'credentialField', field, problem: 'is empty', advice });
}

/**
 * Returns the hash of an account, which is stored with the token as `<hash>.<token>`. n8n continues to send a stored
 * token after the address, the user or the password was edited; the hash shows whether the token belongs to the current
 * account. If the password is an expression (external secrets), the hash is stored without the password and must not
 * reveal it. It is therefore computed with scrypt.
 */
export function hashOf({ baseUrl, userName, password, ignoreSslIssues }: Account): string {
	const salt = JSON.stringify([baseUrl, userName, ignoreSslIssues]);
	return scryptSync(password, salt, 16, { N: WORK }).toString('base64url');
}

/** Returns the token in a credential's stored value, of any account; undefined if the value contains no token. */
export function tokenOf(stored: unknown): string | undefined {
	if (typeof stored !== 'string') return undefined;
	return stored.slice(stored.indexOf('.') + 1) || undefined;
}

/**
 * Returns the Base URL as an HTTP client normalises it, without a slash at its end.
 *
 * @throws ServiceError if the Base URL can't be used. The error repeats the text only if it is a host with a port,
 * since any other text may contain a password
 */
function readBaseUrl(value: unknown): string {
	const text = typeof value === 'string' ? value.trim() : '';
	const problem = problemOf(text);
	if (problem === undefined) return new URL(text).href.replace(/(?<!\/)\/+$/, '');
	const corrected = withScheme(text);
	const advice =
		corrected === undefined
			? 'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.'
			: `Open the credential and enter ${corrected}.`;
	throw new ServiceError({ kind: 'credentialField', field: 'Base URL', problem, advice });
}

/** Returns what is wrong with a Base URL, as the end of a sentence; undefined if the Base URL can be used. */
function problemOf(text: string): string | undefined {
	if (text === '') return 'is empty: enter the address of the service';
	const url = parse(text);
	const isOfOtherScheme = url !== undefined && !/^https?:$/.test(url.protocol);
	if (withScheme(text) !== undefined || isOfOtherScheme) {
		return 'must start with https:// or http://';
	}
	// A URL parser adds missing slashes; n8n's HTTP client doesn't.
	if (url === undefined || !/^https?:\/\//i.test(text)) {
		return 'must be an address such as https://jobs.example.com';
	}
	if (url.username !== '' || url.password !== '') {
		return 'must not contain a user name or a password';
	}
	return /[?#]/.test(text) ? 'must not contain ? or #: remove it and what follows' : undefined;
}

/** Adds a scheme to a host with a port. Returns undefined for any other text, which may contain a password. */
function withScheme(text: string): string | undefined {
	if (!/^[\w.-]+:\d+$/.test(text)) return undefined;
	return /^(localhost|[\d.]+):/.test(text) ? `http://${text}` : `https://${text}`;
}

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);
