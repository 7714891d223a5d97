import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { readBaseUrl } from './baseUrl';

/** Whose log-in it is, and where: what makes two credentials the same to the service. */
export interface Account {
	baseUrl: string;
	/** The same as a client reads it: http://Jobs.example.com:80 is http://jobs.example.com. */
	address: string;
	userName: string;
	password: string;
	ignoreSslIssues: boolean;
	/** A hash of all that, by which it is remembered: no password is a key. */
	key: string;
}

/** @throws ServiceError where the Base URL can't be used */
export function accountOf(credentials: ICredentialDataDecryptedObject): Account {
	const baseUrl = readBaseUrl(credentials.baseUrl);
	const userName = String(credentials.userName ?? '');
	const password = String(credentials.password ?? '');
	const ignoreSslIssues = credentials.ignoreSslIssues === true;
	const address = new URL(baseUrl).href.replace(/\/$/, '');
	const text = JSON.stringify([address, userName, password, ignoreSslIssues]);
	const key = createHash('sha256').update(text).digest('base64');
	return { baseUrl, address, userName, password, ignoreSslIssues, key };
}
