import { scryptSync } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { failureOf } from '../errors/failure';
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
	throw unusable(field, 'is empty', advice);
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
 * @throws ServiceError if the Base URL can't be used. The error doesn't repeat the text, which may contain a password
 */
function readBaseUrl(value: unknown): string {
	const text = notEmpty('Base URL', typeof value === 'string' ? value.trim() : '');
	// A URL parser adds missing slashes; n8n's HTTP client doesn't.
	const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
	const advice =
		'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration.';
	if (url === undefined)
		throw unusable('Base URL', 'must be an address that starts with https:// or http://', advice);
	if (/[?#]/.test(text) || `${url.username}${url.password}` !== '')
		throw unusable('Base URL', 'must have no user name, no password, no ? and no #', advice);
	return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Returns the error of a field that can't be used. @param problem completes the sentence in the title */
const unusable = (field: string, problem: string, advice: string) =>
	new ServiceError(
		failureOf({ title: `The credential's '${field}' ${problem}`, advice, isAboutAllItems: true }),
	);
