import type { ICredentialsHelper, ICredentialType, IHttpRequestOptions } from 'n8n-workflow';

import { CredentialsInMemory } from '../../test/support/credentialsHelper';
import { PLAIN_CREDENTIAL, PlainCredential } from './plainCredential';

const plain = new PlainCredential();

/**
 * n8n's store of credentials, in memory, with the plain credential. It evaluates that one's header as n8n does
 * (credentials-helper.js). n8n's own store also reads its database and decrypts for each request; leaving that out
 * favours the contenders that use it most.
 */
export class Credentials extends CredentialsInMemory {
	constructor(typeNamed: (name: string) => ICredentialType) {
		super((name) => (name === PLAIN_CREDENTIAL ? plain : typeNamed(name)));
	}

	override async authenticate(
		...args: Parameters<ICredentialsHelper['authenticate']>
	): Promise<IHttpRequestOptions> {
		const [credentials, typeName, request, workflow, node] = args;
		if (typeName !== PLAIN_CREDENTIAL || workflow === undefined || node === undefined) {
			return await super.authenticate(...args);
		}
		const { Authorization: header } = plain.authenticate.properties.headers;
		const data = { $credentials: credentials };
		const { expression } = workflow;
		const Authorization = expression.getSimpleParameterValue(node, header, 'internal', data);
		return Object.assign(request as IHttpRequestOptions, {
			headers: { ...request.headers, Authorization },
		});
	}
}
