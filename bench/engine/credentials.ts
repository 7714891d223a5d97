import type { ICredentialsHelper, ICredentialType, IHttpRequestOptions } from 'n8n-workflow';

import { CredentialsInMemory } from '../../test/support/credentialsHelper';
import { PLAIN_CREDENTIAL, PlainCredential } from './plainCredential';

const plain = new PlainCredential();

/**
 * A replacement for n8n's credential store that is in memory and has the plain credential. It evaluates the header of
 * the plain credential in the same way as n8n (credentials-helper.js). n8n also reads its database and decrypts the
 * credential for each request. The benchmark omits this, which favours the contenders that use n8n's store most often.
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
