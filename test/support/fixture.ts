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
 * Starts a sandbox, which `useSandbox` closes, with a password that no other has: it may get the port of an earlier one,
 * and the node would send that one's token if the account were the same.
 */
export async function newSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = await startSandbox({ password: `pass-${randomUUID()}`, ...options });
	started.push(sandbox);
	return sandbox;
}

/** Gives each test of a file a sandbox of its own, and the engine with a credential for it. What a test mocks ends with it. */
export function useSandbox(options: SandboxOptions = {}) {
	let sandbox: Sandbox;
	let engine: Engine;
	/** Gives a test a sandbox with other options, and a new engine with a credential for it. */
	const start = async (others: SandboxOptions) => {
		sandbox = await newSandbox(others);
		engine = await Engine.load();
		engine.saveCredential(credentialFor(sandbox));
	};
	/** The calls of one operation that the sandbox has seen. */
	const callsOf = (operation: CalledOperation) =>
		sandbox.calls.filter((call) => call.operation === operation);
	/** The jobs that the creates have asked for. */
	const sentJobs = () => callsOf('createJob').map(({ body }) => (body as { job: NewJob }).job);
	/** Has each call of one operation, or of all but the login, meet this fault, or what this gives for it. */
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
	beforeEach(async () => await start(options));
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
		/** Runs the node with these parameters and items: the result is no error. */
		async succeeds(parameters: INodeParameters, items?: IDataObject[]): Promise<Result> {
			const result = await engine.run({ parameters }, items);
			expect(result.error).toBeUndefined();
			return result;
		},
		/** Creates a job on which a verb changes something. */
		async newJob(verb: Verb): Promise<StoredJob> {
			await engine.run({ parameters: create() });
			const job = [...sandbox.store.jobs.values()].at(-1);
			if (job === undefined) throw new Error('No job was made');
			makeReadyFor(verb, job);
			return job;
		},
		callsOf,
		sentJobs,
		/** The job that the only create has asked for. */
		sentJob(): NewJob {
			const [job, ...others] = sentJobs();
			if (job === undefined || others.length > 0) throw new Error('There is not one create');
			return job;
		},
		meets,
		/** Answers each call of one operation with this body, instead of acting. */
		answerWith: (operation: CalledOperation, body: unknown) => meets(operation, answer(200, body)),
	};
}

/** A user's entries in the credential's form. */
export const credentialFor = (service: Pick<Sandbox, 'url' | 'userName' | 'password'>) => ({
	baseUrl: service.url,
	userName: service.userName,
	password: service.password,
});

/** The first cluster of every sandbox, which runs. */
export const CLUSTER = 'wc-000001';

/** The work cluster as the editor stores it when it is given by ID. */
export const clusterById = (value: string) => ({ __rl: true, mode: 'id', value });

/** The parameters of a create, those that must be there filled in. */
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

/** What a form can add to a create, by the names that workflows store and by the labels that errors name. */
export function additionalFieldsOf({ loaded }: Engine): Array<{ name: string; label: string }> {
	const field = loaded.node.description.properties.find(({ name }) => name === 'additionalFields');
	return (field?.options ?? []).flatMap((option) =>
		'displayName' in option ? [{ name: option.name, label: option.displayName }] : [],
	);
}

/** The parameters of a state change. */
export function change(operation: string, parameters: INodeParameters): INodeParameters {
	return { resource: 'job', operation, namespace: 'default', ...parameters };
}

/** The parameters of a list of clusters. */
export function getAll(parameters: INodeParameters = {}): INodeParameters {
	return { resource: 'cluster', operation: 'getAll', ...parameters };
}

/** A number of items, numbered from 0. */
export function numbered(count: number): IDataObject[] {
	return Array.from({ length: count }, (_, n) => ({ n }));
}
