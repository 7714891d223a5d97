import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { CREDENTIAL, NODE_TYPE } from '../../test/engine/packageUnderTest';
import {
	creating,
	loadNodeOfN8n,
	newestVersion,
	TYPE,
} from '../performance/contenders/httpRequestNode';
import { job, numbered } from '../performance/contenders/job';
import type { NodeToRun } from '../performance/engine/workbench';
import { LOOP, WAIT, Workbench } from '../performance/engine/workbench';
import type { Target } from '../performance/sandbox/messages';
import { isOwn, type ContenderName } from './contenderNames';
import type { Service } from './services';

/** What is done with a service: its execution, and what comes out. */
type Task = Pick<
	Service,
	'count' | 'executions' | 'namespaceOf' | 'concurrency' | 'batching' | 'loop'
>;

/** n8n's engine with all nodes that take part, and this package's credential. All of them continue after an error. */
export class Contenders {
	private constructor(private readonly workbench: Workbench) {}

	static async load(contender: ContenderName): Promise<Contenders> {
		if (isOwn(contender)) return new Contenders(await Workbench.load());
		const nodeTypes = {
			[TYPE]: loadNodeOfN8n('HttpRequest/HttpRequest.node.js', 'HttpRequest'),
			[LOOP]: loadNodeOfN8n('SplitInBatches/SplitInBatches.node.js', 'SplitInBatches'),
			[WAIT]: loadNodeOfN8n('Wait/Wait.node.js', 'Wait'),
		};
		return new Contenders(await Workbench.load(nodeTypes));
	}

	/** @returns the output of all executions */
	async run(contender: ContenderName, task: Task, target: Target): Promise<INodeExecutionData[]> {
		const { workbench } = this;
		workbench.saveCredential(target);
		const { count, executions = 1, namespaceOf, loop } = task;
		const node = nodeOf(contender, target.url, task);
		const outputs = await Promise.all(
			Array.from({ length: executions }, async (_, execution) => {
				const items = numbered(count);
				for (const { json } of namespaceOf ? items : []) {
					json.namespace = namespaceOf?.(Number(json.n), execution);
				}
				return contender === 'loopWithWait' && loop !== undefined
					? await workbench.runInLoop(node, loop, items)
					: await workbench.run(node, items);
			}),
		);
		return outputs.flat();
	}
}

function nodeOf(contender: ContenderName, url: string, task: Task): NodeToRun {
	const { batching, namespaceOf, concurrency } = task;
	const common = { credential: CREDENTIAL, onError: 'continueRegularOutput' } as const;
	if (isOwn(contender)) {
		const most = contender === 'tenAtOnce' ? 10 : concurrency;
		const parameters = {
			resource: 'job',
			operation: 'create',
			namespace: namespaceOf === undefined ? job.namespace : '={{ $json.namespace }}',
			workflowUid: job.workflowUid,
			workCluster: { __rl: true, mode: 'id', value: job.workCluster },
			displayName: '=Report {{ $json.n }}',
			options: most === undefined ? {} : { concurrency: most },
		};
		return { type: NODE_TYPE, parameters, ...common };
	}
	const options: INodeParameters =
		contender === 'httpRequestInBatches' && batching !== undefined
			? { batching: { batch: batching } }
			: {};
	return {
		type: TYPE,
		typeVersion: newestVersion(loadNodeOfN8n('HttpRequest/HttpRequest.node.js', 'HttpRequest')),
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: CREDENTIAL,
			...creating(url, options),
		},
		...common,
	};
}
