import { readFile } from 'node:fs/promises';

import type { N8nApi, SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';
import { Problem } from '../../host/problem';

const scheduleTrigger = 'n8n-nodes-base.scheduleTrigger';
const manualTrigger = 'n8n-nodes-base.manualTrigger';

/** A copy of a workflow whose nodes are changed one by one. */
function changed(
	{ name, nodes, connections, settings }: SavedWorkflow,
	newName: string,
	change: (node: WorkflowNode) => WorkflowNode,
): WorkflowFile {
	return {
		name: `${name}: ${newName}`,
		nodes: nodes.map(change),
		connections,
		...(settings && { settings }),
	};
}

/** Names the jobs that a workflow creates after its execution, by which a job made twice shows. */
function namedByExecution(node: WorkflowNode): WorkflowNode {
	if (node.parameters['operation'] !== 'create') return node;
	return {
		...node,
		parameters: { ...node.parameters, displayName: '=Job of execution {{ $execution.id }}' },
	};
}

/**
 * A workflow with a trigger of another kind, as one that runs when its webhook is called.
 * @param responseMode when the caller is answered: `lastNode` at the end, with what came out there
 */
export function byWebhook(
	workflow: SavedWorkflow,
	path: string,
	responseMode: 'lastNode' | 'onReceived',
): WorkflowFile {
	return changed(workflow, 'by webhook', (node) =>
		[scheduleTrigger, manualTrigger].includes(node.type)
			? {
					...node,
					type: 'n8n-nodes-base.webhook',
					typeVersion: 2,
					webhookId: path,
					parameters: { httpMethod: 'POST', path, responseMode, options: {} },
				}
			: namedByExecution(node),
	);
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

/** What a webhook answered. */
export interface Answer {
	status: number;
	body: unknown;
}

/** Milliseconds after which a call is no longer waited for. */
const LONGEST_CALL = 60_000;

/**
 * Posts to a webhook, a few calls at once.
 * @param bodies what is posted, one call each
 * @returns the answers in the order of the bodies; one with status 0 for a call that was not answered in time
 */
export async function post(url: string, bodies: object[], atOnce: number): Promise<Answer[]> {
	const answers: Answer[] = [];
	let next = 0;
	const caller = async () => {
		for (let index = next++; index < bodies.length; index = next++) {
			answers[index] = await postOnce(url, bodies[index]);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, caller));
	return answers;
}

async function postOnce(url: string, body: object | undefined): Promise<Answer> {
	const signal = AbortSignal.timeout(LONGEST_CALL);
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
			signal,
		});
		return { status: response.status, body: parsed(await response.text()) };
	} catch (error) {
		if (signal.aborted) return { status: 0, body: {} };
		throw error;
	}
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/** The ids of the executions that a worker has begun, by its log. */
export async function begunBy({ logFile }: Pick<RunningN8n, 'logFile'>): Promise<string[]> {
	const log = await readFile(logFile, 'utf8');
	return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id]) => String(id));
}
