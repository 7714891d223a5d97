import type { INodeParameters, INodeType, OnError } from 'n8n-workflow';

/** A node of a workflow, as the editor would store it. */
export interface WorkflowNode {
	/** As n8n names it: package and node. */
	type: string;
	typeVersion?: number;
	/** Left out for the node of this package. */
	implementation?: INodeType;
	parameters: INodeParameters;
	/** The type of its credential. */
	credential?: string;
	/** n8n's setting "On Error"; by default an error stops the workflow. */
	onError?: OnError;
}
