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
import type { ContenderName } from './contenderNames';
import type { Service } from './services';

/** What is done with a service: its execution, and what comes out. */
export type Task = Pick<Service, 'count' | 'executions' | 'batching' | 'loop'>;

/** n8n's engine with all nodes that take part, and this package's credential. All of them continue after an error. */
export class Contenders {
	private constructor(private readonly workbench: Workbench) {}

	static async load(): Promise<Contenders> {
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
		const { count, executions = 1, batching, loop } = task;
		const node = nodeOf(contender, target.url, batching);
		const items = numbered(count);
		const outputs = await Promise.all(
			Array.from({ length: executions }, async () =>
				contender === 'loopWithWait' && loop !== undefined
					? await workbench.runInLoop(node, loop, items)
					: await workbench.run(node, items),
			),
		);
		return outputs.flat();
	}
}

function nodeOf(contender: ContenderName, url: string, batching: Task['batching']): NodeToRun {
	const common = { credential: CREDENTIAL, onError: 'continueRegularOutput' } as const;
	if (contender === 'thisNode' || contender === 'tenAtOnce') {
		const options: INodeParameters = contender === 'tenAtOnce' ? { concurrency: 10 } : {};
		const parameters = {
			resource: 'job',
			operation: 'create',
			namespace: job.namespace,
			workflowUid: job.workflowUid,
			workCluster: { __rl: true, mode: 'id', value: job.workCluster },
			displayName: '=Report {{ $json.n }}',
			options,
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
