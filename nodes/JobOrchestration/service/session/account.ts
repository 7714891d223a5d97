import { scryptSync } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { decodedPath } from '../../decodedPath';
import { ServiceError } from '../errors/problem';

/** Where to log in, and as whom: what makes two credentials the same to the service. */
export type Account = ReturnType<typeof accountOf>;

/** scrypt's work factor: 4 MB and about ten milliseconds. With less, a leaked hash would let passwords be guessed. */
const WORK = 4096;

/** @throws ServiceError if the Base URL can't be used, or the user name or the password is empty */
export function accountOf(credentials: ICredentialDataDecryptedObject) {
	return {
		baseUrl: readBaseUrl(credentials.baseUrl),
		userName: notEmpty('Username', String(credentials.userName ?? '').trim()),
		password: notEmpty('Password', String(credentials.password ?? '')),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
}

/** @param field the label of the text's field */
function notEmpty(field: string, text: string): string {
	if (text !== '') return text;
	const advice =
		"Open the credential and fill it in. n8n's source control keeps expressions in credentials, but not texts.";
	throw new ServiceError({ kind: 'credentialField', field, problem: 'is empty', advice });
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

/**
 * The Base URL as a client reads it, without a slash at its end.
 *
 * @throws ServiceError, which doesn't repeat the text: it may hold a password
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

/** What is wrong with a Base URL, as the end of a sentence. */
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

/** A host and a port with a scheme before them; undefined for any other text, which may hold a password. */
function withScheme(text: string): string | undefined {
	if (!/^[\w.-]+:\d+$/.test(text)) return undefined;
	return /^(localhost|[\d.]+):/.test(text) ? `http://${text}` : `https://${text}`;
}

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);

/** The address that n8n's HTTP client (axios) would send a request to; undefined if it isn't one. */
export function resolveUrl(address: unknown, baseURL: unknown): URL | undefined {
	if (typeof address !== 'string') return undefined;
	const isComplete = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(address);
	return typeof baseURL !== 'string' || baseURL === '' || isComplete
		? parse(address)
		: parse(`${baseURL.replace(/\/?\/$/, '')}/${address.replace(/^\/+/, '')}`);
}

/** Whether an address is a base URL, as `readBaseUrl` has it, or below it. A `..` goes up, even if it is encoded. */
export function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
	// Some servers drop what follows a semicolon.
	const segments = decodedPath(pathname)
		.split(/[/\\]/)
		.map((segment) => segment.split(';')[0]);
	return `${origin}${pathname}/`.startsWith(`${baseUrl}/`) && !segments.includes('..');
}
