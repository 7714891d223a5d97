// The process of a contender. It warms up, does the task once, and returns the measured values.
import type { INodeExecutionData, INodeType } from 'n8n-workflow';
import { worker } from 'workerpool';

import { Engine, resultOf } from '../test/support/run';
import { workflowOf } from '../test/support/workflow';
import type { ContenderName, Target, Task } from './case';
import { contenders, Credentials, PLAIN_ID, type Contender } from './contenders';
import { measure } from './measure';

/** The size and the number of the warm-ups. In production, n8n has usually been running for a long time. */
const WARM_UP = { count: 500, times: 2 };

/** What the process has to measure. */
interface Request {
	contender: ContenderName;
	task: Task;
	/** The service for the measured task. */
	measured: Target;
	/** The service for the warm-up. */
	warmUp: Target;
}

export type Sample = Awaited<ReturnType<typeof perform>>;

export async function perform({ contender, task, measured, warmUp }: Request) {
	const engine = await Engine.load(Credentials);
	const use = async ({ url: baseUrl, userName, password }: Target) => {
		engine.saveCredential({ baseUrl, userName, password });
		engine.credentials.save(PLAIN_ID, { token: await logIn(baseUrl, { userName, password }) });
	};
	const run = async (what: Task, target: Target) => {
		const node = contenders[contender](what, target);
		const items = itemsOf(what);
		if (!what.isOneEach) return await runNode(engine, node, items);
		const outputs = items.map(async (item) => await runNode(engine, node, [item]));
		return (await Promise.all(outputs)).flat();
	};
	const { isOneEach = false } = task;
	await use(warmUp);
	for (let time = 0; time < WARM_UP.times; time += 1) {
		await run({ count: WARM_UP.count, isOneEach }, warmUp);
	}
	await use(measured);
	const { result, cost } = await measure(async () => await run(task, measured));
	return { ...cost, ...outcomeOf(result, task) };
}

/** Returns the token of a login. */
async function logIn(url: string, user: { userName: string; password: string }): Promise<string> {
	const response = await fetch(`${url}/oauth/login`, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ ...user, type: 'basic' }),
	});
	const { access_token } = (await response.json()) as { access_token: string };
	return access_token;
}

function itemsOf({ count, namespaces }: Task): INodeExecutionData[] {
	return Array.from({ length: count }, (_, n) => ({
		json: { n, ...(namespaces && { namespace: namespaces[n] }) },
		pairedItem: { item: n },
	}));
}

/**
 * Runs a node with these items in n8n's engine, and returns its output.
 * @throws the error that ended the execution
 */
async function runNode(
	engine: Engine,
	{ type, typeVersion = 1, implementation, settings, ...options }: Contender,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const getByName = (wanted: string): INodeType =>
		(wanted === type ? implementation : undefined) ??
		engine.loaded.nodeTypes.getByNameAndVersion(wanted);
	const nodeTypes = { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
	const node = { ...options, settings: { ...settings, type, typeVersion } };
	const run = await engine.runWorkflow(workflowOf([node], { nodeTypes }), {}, { Items: items });
	const { items: output, error } = resultOf(run, 'Node 1');
	if (error !== undefined) throw error;
	return output;
}

/**
 * Counts the items that failed, and those of them whose job may exist.
 * @throws Error if the output doesn't contain one result for each job of the task
 */
function outcomeOf(output: INodeExecutionData[], { count }: Task) {
	if (output.length !== count) throw new Error(`gave ${output.length} results, not ${count}`);
	const errors = output.map(({ json }) => json.error).filter((error) => error !== undefined);
	const isUncertain = (error: object) => 'jobMayExist' in error && error.jobMayExist === true;
	const mayExist = errors.filter((error) => isUncertain(Object(error))).length;
	return { failed: errors.length, mayExist };
}

worker({ perform });
