import { scryptSync } from 'node:crypto';

import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { truncate } from '../../texts';
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
	const baseUrl = readBaseUrl(credentials.baseUrl);
	const userName = notEmpty('Username', String(credentials.userName ?? '').trim());
	const password = notEmpty('Password', String(credentials.password ?? ''));
	const ignoreSslIssues = credentials.ignoreSslIssues === true;
	/** The account as errors name it. Two accounts with the same name have the same user. */
	const name = `user ${JSON.stringify(userName)} at ${baseUrl}`;
	return { name, baseUrl, userName, password, ignoreSslIssues };
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
		"Open the credential and fill it in, or correct its expression. n8n's source control keeps expressions in credentials, but not texts.";
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
	const url = /^https?:\/\//i.test(text) ? parse(text) : undefined;
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

/**
 * Returns the address of another node's request in the form that was checked, so that n8n can't interpret it
 * differently. The request may only go to the Base URL or to an address below it, and not through a proxy that is set in
 * the workflow.
 *
 * @throws ServiceError if the token must not be sent there
 */
export function addressForToken(
	{ url, uri, baseURL, headers = {}, proxy }: IHttpRequestOptions & { uri?: unknown },
	baseUrl: string,
): string {
	const address = resolveUrl(url ?? uri, baseURL);
	// There may be several Host headers in different spellings, and any of them may be sent.
	const otherHost = Object.entries(headers).find(
		([name, host]) => /^host$/i.test(name) && host !== undefined && host !== address?.host,
	);
	const isOurs = address !== undefined && otherHost === undefined && isBelow(baseUrl, address);
	if (isOurs && !proxy) return address.href;
	const shown = address && `${address.origin}${address.pathname}`;
	const foreign = isOurs ? "the node's proxy" : (otherHost?.[1] ?? shown);
	throw new ServiceError(
		failureOf({
			title: `This credential is for ${truncate(baseUrl)} only`,
			advice:
				"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
			facts: [
				`Nothing was sent: ${String(foreign ?? "an address that can't be read")} must not get the token.`,
			],
		}),
	);
}

/** Returns the URL that n8n's HTTP client (axios) would send a request to; undefined if it isn't a valid URL. */
function resolveUrl(address: unknown, baseURL: unknown): URL | undefined {
	if (typeof address !== 'string') return undefined;
	const isComplete = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(address);
	return typeof baseURL !== 'string' || baseURL === '' || isComplete
		? parse(address)
		: parse(`${baseURL.replace(/\/?\/$/, '')}/${address.replace(/^\/+/, '')}`);
}

/**
 * Decides whether an address is a base URL, as `accountOf` returns it, or a path below it. An address is neither if it
 * has a `..` segment that URL parsing doesn't resolve, because a part of it is encoded: a server may resolve it to a
 * path outside the base URL. The same applies if a character is still encoded after the path was decoded once, because
 * several servers may each decode the path.
 */
function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
	const decoded = pathname.replace(/%([\da-f]{2})/gi, (_, code: string) =>
		String.fromCharCode(parseInt(code, 16)),
	);
	// Some servers ignore the part of a path segment that follows a semicolon, and some decode a query in the path.
	const segments = decoded.split(/[/\\]/).map((segment) => segment.split(/[;?#\0]/)[0]);
	const isPlain = !/%(?:u|[\da-f]{2})/i.test(decoded) && !segments.includes('..');
	return isPlain && `${origin}${pathname}/`.startsWith(`${baseUrl}/`);
}

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);
