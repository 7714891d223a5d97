import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INode,
	Workflow,
} from 'n8n-workflow';

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
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		request: IHttpRequestOptions,
		workflow?: Workflow,
		node?: INode,
	): Promise<IHttpRequestOptions> {
		if (typeName !== PLAIN_CREDENTIAL || workflow === undefined || node === undefined) {
			return await super.authenticate(credentials, typeName, request);
		}
		const { Authorization: header } = plain.authenticate.properties.headers;
		const data = { $credentials: credentials };
		const { expression } = workflow;
		const Authorization = expression.getSimpleParameterValue(node, header, 'internal', data);
		return Object.assign(request, { headers: { ...request.headers, Authorization } });
	}
}
