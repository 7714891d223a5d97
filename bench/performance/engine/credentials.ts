import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INode,
	IRequestOptionsSimplified,
	Workflow,
} from 'n8n-workflow';

import { CredentialsInMemory } from '../../../test/engine/credentialsHelper';

/**
 * n8n's store of credentials, in memory, which also presents a token by the expressions of a credential, as
 * n8n's does (n8n, credentials-helper.js). What n8n's costs more (it reads its database and deciphers, for each
 * request) is left out: what uses it most gets off lightest.
 */
export class Credentials extends CredentialsInMemory {
	constructor(private readonly typeNamed: (name: string) => ICredentialType) {
		super(typeNamed);
	}

	override async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		request: IHttpRequestOptions | IRequestOptionsSimplified,
		workflow?: Workflow,
		node?: INode,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.typeNamed(typeName);
		if (typeof authenticate !== 'object' || workflow === undefined || node === undefined) {
			return await super.authenticate(credentials, typeName, request);
		}
		const evaluate = (text: string) =>
			String(
				workflow.expression.getSimpleParameterValue(
					node,
					text,
					'internal',
					{ $credentials: credentials },
					undefined,
					'',
				) ?? '',
			);
		const headers: Record<string, unknown> = { ...request.headers };
		for (const [name, value] of Object.entries(authenticate.properties.headers ?? {})) {
			headers[evaluate(name)] = evaluate(String(value));
		}
		return Object.assign(request, { headers }) as IHttpRequestOptions;
	}
}
