import type {
	IAuthenticateGeneric,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestHelper,
	INodeProperties,
} from 'n8n-workflow';

/**
 * An expirable credential as n8n's built-in ones have it (Metabase, Wekan, Grist …): a log-in whenever n8n
 * asks for a token, and a header made by an expression.
 */
export class PlainCredential implements ICredentialType {
	name = 'plainApi';

	displayName = 'Plain API';

	properties: INodeProperties[] = [
		{ displayName: 'Base URL', name: 'baseUrl', type: 'string', default: '' },
		{ displayName: 'User Name', name: 'userName', type: 'string', default: '' },
		{ displayName: 'Password', name: 'password', type: 'string', default: '' },
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'hidden',
			typeOptions: { expirable: true },
			default: '',
		},
	];

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

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
	};
}
