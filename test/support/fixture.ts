import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Plan, PlannedCall, Sandbox, SandboxOptions } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { answer } from './answer';
import { Engine } from './run';

type Operation = Sandbox['calls'][number]['operation'];

/** The sandbox and the engine of the tests of one file: fresh for each test, with a credential stored. */
export interface Fixture {
	sandbox: Sandbox;
	engine: Engine;
	/** Gives a test a sandbox with other options, and a new engine with a credential for it. */
	start(options: SandboxOptions): Promise<void>;
	/** The calls of one operation that the sandbox has seen. */
	callsOf(operation: Operation): Array<Sandbox['calls'][number]>;
	/** Has each call of one operation meet the fault that this gives; none if it gives undefined. */
	meets(operation: Operation, faultFor: (call: PlannedCall) => ReturnType<Plan>): void;
	/** Answers each call of one operation with this body, instead of acting. */
	answerWith(operation: Operation, body: unknown): void;
}

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
export function useSandbox(options: SandboxOptions = {}): Fixture {
	let sandbox: Sandbox;
	let engine: Engine;
	const start = async (others: SandboxOptions) => {
		sandbox = await newSandbox(others);
		engine = await Engine.load();
		engine.saveCredential(credentialFor(sandbox));
	};
	const meets: Fixture['meets'] = (operation, faultFor) =>
		sandbox.faults.plan((call) => (call.operation === operation ? faultFor(call) : undefined));
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
		callsOf: (operation) => sandbox.calls.filter((call) => call.operation === operation),
		meets,
		answerWith: (operation, body) => meets(operation, () => answer(200, body)),
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
