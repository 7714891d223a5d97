import type {
	ICredentialDataDecryptedObject,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INode,
	IRequestOptionsSimplified,
} from 'n8n-workflow';

import { startSandbox } from '../../sandbox';
import type { Sandbox } from '../../sandbox';
import { CredentialsInMemory } from '../engine/credentialsHelper';
import { create, credentialFor } from '../engine/fixture';
import { Engine } from '../engine/run';
import { until } from '../sandbox/client';

/*
 * n8n's store of credentials is not part of its engine, and another one may pass on copies of what it is given, or
 * know the token by itself. What holds for each request must hold there, too.
 */

type Data = ICredentialDataDecryptedObject;
type Options = IHttpRequestOptions | IRequestOptionsSimplified;

class Copying extends CredentialsInMemory {
	override async authenticate(credentials: Data, type: string, options: Options) {
		return await super.authenticate({ ...credentials }, type, options);
	}

	override async preAuthentication(
		helpers: IHttpRequestHelper,
		credentials: Data,
		type: string,
		node: INode,
		expired: boolean,
	) {
		return await super.preAuthentication(helpers, { ...credentials }, type, node, expired);
	}
}

class KnowingTheToken extends CredentialsInMemory {
	static token = '';

	override async authenticate(_credentials: Data, _type: string, options: Options) {
		const Authorization = `Bearer ${KnowingTheToken.token}`;
		return await Promise.resolve({
			...options,
			headers: { ...options.headers, Authorization },
		} as IHttpRequestOptions);
	}

	override async preAuthentication() {
		return await Promise.resolve(undefined);
	}
}

describe.each([
	['passes on copies', Copying],
	['knows the token', KnowingTheToken],
])('where the store of credentials %s', (_, Store) => {
	let sandbox: Sandbox;
	let engine: Engine;
	beforeEach(async () => {
		sandbox = await startSandbox();
		engine = await Engine.load(Store);
		engine.saveCredential(credentialFor(sandbox));
		const { userName, password } = sandbox;
		const response = await fetch(`${sandbox.url}/oauth/login`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ userName, password, type: 'basic' }),
		});
		const { access_token } = (await response.json()) as { access_token: string };
		KnowingTheToken.token = access_token;
	});
	afterEach(async () => {
		await sandbox.close();
	});

	test('a request ends at Timeout', async () => {
		sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' ? { kind: 'drip', when: 'afterActing' } : undefined,
		);
		const { error } = await engine.run({ parameters: create({ options: { timeout: 300 } }) });
		expect(error?.message).toBe("The service didn't answer within 0.3 s; the job may exist");
	});

	test('a cancel leaves a create to end', async () => {
		let answer = () => {};
		const answered = new Promise<void>((resolve) => (answer = resolve));
		sandbox.faults.plan(({ operation }) =>
			operation === 'createJob'
				? { kind: 'wait', when: 'afterActing', until: answered }
				: undefined,
		);
		const execute = jest.spyOn(engine.loaded.node, 'execute');
		const running = engine.start([{ parameters: create() }], [{}]);
		await until(() => sandbox.store.jobs.size === 1);
		running.cancel();
		answer();
		await running.result;
		await expect(execute.mock.results[0]?.value).rejects.toMatchObject({
			message: 'The execution was cancelled',
			context: { createdJobs: [{ uid: [...sandbox.store.jobs.keys()][0] }] },
		});
	});
});
