import { readFile } from 'node:fs/promises';

import type { N8nApi, SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';
import { Problem } from '../../host/problem';

const scheduleTrigger = 'n8n-nodes-base.scheduleTrigger';
const manualTrigger = 'n8n-nodes-base.manualTrigger';

/**
 * A workflow with a webhook for a trigger; `lastNode` has it answered at the end. The jobs that it creates are named after their
 * execution, by which a job made twice shows.
 */
export function byWebhook(
	{ name, nodes, connections, settings }: SavedWorkflow,
	path: string,
	responseMode: 'lastNode' | 'onReceived' = 'lastNode',
): WorkflowFile {
	const changed = nodes.map((node): WorkflowNode => {
		if ([scheduleTrigger, manualTrigger].includes(node.type)) {
			const parameters = { httpMethod: 'POST', path, responseMode, options: {} };
			const webhook = { type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: path };
			return { ...node, ...webhook, parameters };
		}
		if (node.parameters['operation'] !== 'create') return node;
		const displayName = '=Job of execution {{ $execution.id }}';
		return { ...node, parameters: { ...node.parameters, displayName } };
	});
	return {
		...{ name: `${name}: by webhook`, nodes: changed, connections },
		...(settings && { settings }),
	};
}

/** Brings a workflow in and lets it run by its triggers. */
export async function publish(api: N8nApi, workflow: WorkflowFile): Promise<SavedWorkflow> {
	const saved = await api.createWorkflow(workflow);
	await api.activate(saved);
	return saved;
}

/** A look at n8n that takes it for "not yet" when n8n does not answer, as while its database is away. */
export function orNotYet<T>(look: () => Promise<T | undefined>): () => Promise<T | undefined> {
	return async () => {
		try {
			return await look();
		} catch (error) {
			if (error instanceof Problem) return undefined;
			throw error;
		}
	};
}

/** Milliseconds after which a call is no longer waited for. */
const LONGEST_CALL = 60_000;

/**
 * Posts to a webhook a number of times, a few calls at once.
 * @returns the statuses of the answers; 0 for a call that was not answered in time
 */
export async function post(url: string, times: number, atOnce: number): Promise<number[]> {
	const statuses: number[] = [];
	let begun = 0;
	const caller = async () => {
		while (begun < times) {
			begun += 1;
			statuses.push(await postOnce(url));
		}
	};
	await Promise.all(Array.from({ length: atOnce }, caller));
	return statuses;
}

async function postOnce(url: string): Promise<number> {
	const signal = AbortSignal.timeout(LONGEST_CALL);
	const headers = { 'content-type': 'application/json' };
	try {
		const response = await fetch(url, { method: 'POST', headers, body: '{}', signal });
		await response.arrayBuffer();
		return response.status;
	} catch (error) {
		if (signal.aborted) return 0;
		throw error;
	}
}

/** The ids of the executions that a worker has begun, by its log. */
export async function begunBy({ logFile }: Pick<RunningN8n, 'logFile'>): Promise<string[]> {
	const log = await readFile(logFile, 'utf8');
	return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id]) => String(id));
}
