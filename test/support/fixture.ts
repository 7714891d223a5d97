import type * as Crypto from 'node:crypto';
import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type {
	CalledOperation,
	NewJob,
	Plan,
	PlannedCall,
	Sandbox,
	SandboxOptions,
	StoredJob,
	Verb,
} from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { makeReadyFor } from '../sandbox/states';
import { answer } from './answer';
import { Engine, type Result } from './run';

type Faults = ReturnType<Plan>;

const started: Sandbox[] = [];

/**
 * Starts a sandbox, which `useSandbox` closes after the test. Each sandbox has a unique password: a new sandbox may get
 * the port of an earlier one, and with the same account, the node would send it the token of the earlier one.
 */
export async function newSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = await startSandbox({ password: `pass-${randomUUID()}`, ...options });
	started.push(sandbox);
	return sandbox;
}

/**
 * Lets scrypt do little work. The node hashes each account with it, which would take a seventh of the time of the tests.
 */
function hashQuickly(): void {
	const crypto = jest.requireActual<typeof Crypto>('node:crypto');
	const { scryptSync } = crypto;
	jest
		.spyOn(crypto, 'scryptSync')
		.mockImplementation((...[password, salt, length]) =>
			scryptSync(password, salt, length, { N: 2 }),
		);
}

/**
 * Gives each test of a file its own sandbox, and an engine with a credential for it. After each test, it closes the
 * sandboxes and restores all mocks.
 */
export function useSandbox(options: SandboxOptions = {}) {
	let sandbox: Sandbox;
	let engine: Engine;
	/**
	 * Replaces the sandbox of a test by one with other options, and the engine by a new one with a credential for it.
	 */
	const start = async (others: SandboxOptions) => {
		sandbox = await newSandbox(others);
		engine = await Engine.load();
		engine.saveCredential(credentialFor(sandbox));
	};
	/** Returns the calls of one operation that the sandbox has received. */
	const callsOf = (operation: CalledOperation) =>
		sandbox.calls.filter((call) => call.operation === operation);
	/** Returns the jobs in the bodies of all creates. */
	const sentJobs = () => callsOf('createJob').map(({ body }) => (body as { job: NewJob }).job);
	/**
	 * Plans a fault for each call of an operation; 'others' means every operation except the login. If `fault` is a
	 * function, it is called for each of these calls and returns the fault for it.
	 */
	const meets = (
		operation: CalledOperation | 'others',
		fault: Faults | ((call: PlannedCall) => Faults),
	) =>
		sandbox.faults.plan((call) => {
			const isMeant =
				operation === 'others' ? call.operation !== 'login' : call.operation === operation;
			if (!isMeant) return undefined;
			return typeof fault === 'function' ? fault(call) : fault;
		});
	beforeEach(async () => {
		hashQuickly();
		await start(options);
	});
	afterEach(async () => {
		await Promise.all(started.splice(0).map(async (each) => await each.close()));
		jest.restoreAllMocks();
	});

	return {
		start,
		get sandbox() {
			return sandbox;
		},
		get engine() {
			return engine;
		},
		/** Runs the node and expects that the run ends without an error. */
		async succeeds(parameters: INodeParameters, items?: IDataObject[]): Promise<Result> {
			const result = await engine.run({ parameters }, items);
			expect(result.error).toBeUndefined();
			return result;
		},
		/** Creates a job in the state from which the verb changes it. */
		async newJob(verb: Verb): Promise<StoredJob> {
			await engine.run({ parameters: create() });
			const job = [...sandbox.store.jobs.values()].at(-1);
			if (job === undefined) throw new Error('No job was made');
			makeReadyFor(verb, job);
			return job;
		},
		callsOf,
		sentJobs,
		/** Returns the job in the body of the only create. */
		sentJob(): NewJob {
			const [job, ...others] = sentJobs();
			if (job === undefined || others.length > 0) throw new Error('There is not one create');
			return job;
		},
		meets,
		/** Answers each call of one operation with status 200 and this body, without carrying it out. */
		answerWith: (operation: CalledOperation, body: unknown) => meets(operation, answer(200, body)),
	};
}

/** Returns the values that a user enters in the credential's form for this sandbox. */
export const credentialFor = (service: Pick<Sandbox, 'url' | 'userName' | 'password'>) => ({
	baseUrl: service.url,
	userName: service.userName,
	password: service.password,
});

/** The ID of the first cluster of every sandbox. This cluster is running. */
export const CLUSTER = 'wc-000001';

/** Returns the value that the editor stores for a work cluster that is given by ID. */
export const clusterById = (value: string) => ({ __rl: true, mode: 'id', value });

/** Returns the parameters of a Create node. The required fields have values. */
export function create(parameters: INodeParameters = {}): INodeParameters {
	return {
		resource: 'job',
		operation: 'create',
		namespace: 'default',
		workflowUid: 'template-1',
		workCluster: clusterById(CLUSTER),
		displayName: 'Report',
		...parameters,
	};
}

/** Returns the parameters of a node that changes the state of a job. */
export function change(operation: string, parameters: INodeParameters): INodeParameters {
	return { resource: 'job', operation, namespace: 'default', ...parameters };
}

/** Returns the parameters of a Get Many node. */
export function getAll(parameters: INodeParameters = {}): INodeParameters {
	return { resource: 'cluster', operation: 'getAll', ...parameters };
}

/** Returns `count` items, numbered from 0. */
export function numbered(count: number): IDataObject[] {
	return Array.from({ length: count }, (_, n) => ({ n }));
}
