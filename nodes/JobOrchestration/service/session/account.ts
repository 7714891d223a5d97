import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { readBaseUrl } from './baseUrl';

/** Where to log in, and as whom: what makes two credentials the same to the service. */
export interface Account {
	baseUrl: string;
	/** The base URL as a client reads it: http://Jobs.example.com:80 is http://jobs.example.com. */
	address: string;
	userName: string;
	password: string;
	ignoreSslIssues: boolean;
}

/** @throws ServiceError if the Base URL can't be used */
export function accountOf(credentials: ICredentialDataDecryptedObject): Account {
	const baseUrl = readBaseUrl(credentials.baseUrl);
	return {
		baseUrl,
		address: new URL(baseUrl).href.replace(/\/$/, ''),
		userName: String(credentials.userName ?? ''),
		password: String(credentials.password ?? ''),
		ignoreSslIssues: credentials.ignoreSslIssues === true,
	};
}
