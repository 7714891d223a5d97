import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { readBaseUrl } from './baseUrl';

/** Whose log-in it is, and where: what makes two credentials the same to the service. */
export interface Account {
	baseUrl: string;
	userName: string;
	password: string;
	ignoreSslIssues: boolean;
}

/** @throws ServiceError where the Base URL can't be used */
export function accountOf(credentials: ICredentialDataDecryptedObject): Account {
	return {
		baseUrl: readBaseUrl(credentials.baseUrl),
		userName: String(credentials.userName ?? ''),
		password: String(credentials.password ?? ''),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
}

/** A hash by which an account is remembered, so that no password is a key. */
export function accountKey({ baseUrl, userName, password, ignoreSslIssues }: Account): string {
	const text = JSON.stringify([baseUrl, userName, password, ignoreSslIssues]);
	return createHash('sha256').update(text).digest('base64');
}
