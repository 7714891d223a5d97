import type {
	ICredentialDataDecryptedObject,
	ICredentials,
	ICredentialType,
	IDataObject,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INodeCredentialsDetails,
	INodeParameters,
	INodeProperties,
} from 'n8n-workflow';
import * as n8nWorkflow from 'n8n-workflow';
import { Credentials } from 'n8n-core';

type Helper = n8nWorkflow.ICredentialsHelper;

/**
 * An in-memory replacement for n8n's credential store. n8n's own helper is part of its server package
 * (credentials-helper.js). This class treats credential types in the same way: it asks for a token under the same
 * conditions, and merges and stores the result in the same way.
 */
export class CredentialsInMemory extends n8nWorkflow.ICredentialsHelper {
	private readonly stored = new Map<string, ICredentialDataDecryptedObject>();

	/** Called before each read of the credential by a node. */
	onRead = (): void => {};

	constructor(private readonly types: (name: string) => ICredentialType) {
		super();
	}

	/** Stores a credential as if a user had saved it. */
	save(id: string, data: ICredentialDataDecryptedObject): void {
		this.stored.set(id, data);
	}

	/** Returns a copy of the stored credential, including its token. */
	look(id: string): ICredentialDataDecryptedObject {
		return { ...this.stored.get(id) };
	}

	async getDecrypted(
		...[, { id }, , mode, executeData, , values]: Parameters<Helper['getDecrypted']>
	): Promise<ICredentialDataDecryptedObject> {
		this.onRead();
		const data = await this.read(String(id));
		if (values === undefined) return data;
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } = values;
		return workflow.expression.getParameterValue(
			...([data as INodeParameters, runExecutionData, runIndex, itemIndex, node.name] as const),
			...([connectionInputData, mode, {}, executeData, false] as const),
		) as ICredentialDataDecryptedObject;
	}

	/** Reads the stored credential. A subclass may keep it elsewhere. */
	protected async read(id: string): Promise<ICredentialDataDecryptedObject> {
		return await Promise.resolve(structuredClone(this.look(id)));
	}

	async authenticate(
		...[credentials, typeName, requestOptions]: Parameters<Helper['authenticate']>
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.types(typeName);
		const options = requestOptions as IHttpRequestOptions;
		if (typeof authenticate !== 'function') return options;
		return await authenticate(credentials, options);
	}

	async preAuthentication(
		...[helpers, credentials, typeName, node, hasExpired]: Parameters<Helper['preAuthentication']>
	): Promise<ICredentialDataDecryptedObject | undefined> {
		const type = this.types(typeName);
		const expirable = type.properties.find(
			(property) => property.type === 'hidden' && property.typeOptions?.expirable === true,
		);
		if (expirable === undefined) return undefined;
		const isTest = node.parameters.temp === '' && node.type === 'n8n-nodes-base.noOp';
		if (credentials[expirable.name] !== '' && !hasExpired && !isTest) return undefined;

		const output = await this.runPreAuthentication(helpers, credentials, typeName);
		if (output?.[expirable.name] === undefined) return undefined;
		const details = node.credentials?.[typeName];
		if (details === undefined) return undefined;
		const data = await this.withToken(String(details.id), credentials, output);
		await this.updateCredentials(details, typeName, data);
		return Object.assign(credentials, output);
	}

	/** Returns the credential data to store after a login has returned a new token. */
	protected async withToken(
		id: string,
		_credentials: ICredentialDataDecryptedObject,
		output: ICredentialDataDecryptedObject,
	): Promise<ICredentialDataDecryptedObject> {
		return { ...(await this.read(id)), ...output };
	}

	async runPreAuthentication(
		helpers: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
	): Promise<ICredentialDataDecryptedObject | undefined> {
		const { preAuthentication } = this.types(typeName);
		const output = await preAuthentication?.call(onlyRequests(helpers, credentials), credentials);
		return output === undefined ? undefined : stored(output);
	}

	async updateCredentials(
		{ id }: INodeCredentialsDetails,
		_type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<void> {
		this.stored.set(String(id), data);
		await Promise.resolve();
	}

	async updateCredentialsOauthTokenData(): Promise<void> {
		await Promise.reject(new Error('No OAuth here'));
	}

	async getCredentials({ id }: INodeCredentialsDetails, type: string): Promise<ICredentials> {
		return await Promise.resolve(new Credentials({ id: id ?? null, name: type }, type));
	}

	getParentTypes(): string[] {
		return [];
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	getCredentialsProperties(type: string): INodeProperties[] {
		return this.types(type).properties;
	}
}

/**
 * Returns the only helper that n8n gives to a credential type: the one for requests. Since n8n 2.40, it only sends
 * requests to the domains that the credential allows.
 */
function onlyRequests(
	{ helpers }: IHttpRequestHelper,
	credentials: ICredentialDataDecryptedObject,
): IHttpRequestHelper {
	const httpRequest: typeof helpers.httpRequest = async (options) => {
		const allowedDomains = allowedDomainsOf(credentials);
		return await helpers.httpRequest({ ...options, ...(allowedDomains && { allowedDomains }) });
	};
	return { helpers: { httpRequest } };
}

/** Returns the domains that the credential allows, or undefined if n8n has no field for them, as in n8n 1.x. */
function allowedDomainsOf(credentials: ICredentialDataDecryptedObject): string | undefined {
	const read: unknown = Reflect.get(n8nWorkflow, 'getCredentialOwnRequestAllowedDomains');
	return typeof read === 'function' ? (read(credentials) as string | undefined) : undefined;
}

/** Returns the fields that n8n stores of a credential type's output: only the texts. */
function stored(output: IDataObject): ICredentialDataDecryptedObject {
	const entries = Object.entries(output).filter(([, value]) => typeof value === 'string');
	return Object.fromEntries(entries) as Record<string, string>;
}
