import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestHelper,
	INodeProperties,
} from 'n8n-workflow';

export const PLAIN_CREDENTIAL = 'plainApi';

/**
 * An expirable credential that resembles those of n8n, such as Metabase and Wekan: it logs in whenever n8n requests a
 * token, and an expression sets its header.
 */
export class PlainCredential implements ICredentialType {
	name = PLAIN_CREDENTIAL;

	displayName = 'Plain API';

	properties: INodeProperties[] = [
		...['baseUrl', 'userName', 'password'].map(
			(name) => ({ displayName: name, name, type: 'string', default: '' }) as const,
		),
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'hidden',
			typeOptions: { expirable: true },
			default: '',
		},
	];

	authenticate = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
	} as const;

	async preAuthentication(
		this: IHttpRequestHelper,
		{ baseUrl, userName, password }: ICredentialDataDecryptedObject,
	): Promise<{ accessToken: string }> {
		const { access_token } = (await this.helpers.httpRequest({
			method: 'POST',
			url: `${String(baseUrl)}/oauth/login`,
			body: { userName, password, type: 'basic' },
			json: true,
		})) as { access_token: string };
		return { accessToken: access_token };
	}
}
