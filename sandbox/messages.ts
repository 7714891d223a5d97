/*
 * The messages of contract/openapi.yaml as types. A request has these types once it has passed the
 * contract's check.
 */

export interface LoginRequest {
	userName: string;
	password: string | number;
	type: 'basic';
}

export interface Token {
	access_token: string;
	token_type: string;
	refresh_token: string;
	/** Seconds. */
	expires_in: number;
}

export interface Parameter {
	id?: string;
	anchors?: Array<{ source?: string; sourceAnchor?: string }>;
	displayName?: string;
	controls?: string;
	default?: string;
	type?: string;
}

export interface NewJob {
	displayName: string;
	group: string;
	workCluster: string;
	workflow: { uid: string };
	priority?: number;
	metadata?: Record<string, unknown>;
	type?: string;
	inputs?: Parameter[];
	outputs?: Parameter[];
	retryOption?: { maxretry?: number; retryInterval?: number };
	namespace?: string | number;
	workspace?: string;
}

export interface CreateJobRequest {
	namespace: string | number;
	job: NewJob;
}

export interface Job {
	metadata: { namespace: string; uid: string };
	name: string;
	displayName: string;
	group: string;
	type: string;
	workflow: { uid: string };
	priority: number;
	/** ISO 8601, UTC. */
	status: { startedAt: string; finishedAt: string | null };
	inputs: Parameter[];
	outputs: Parameter[];
	/** The interval is in milliseconds. */
	retryOption: { maxRetry: number; retryInterval: number };
	/** What the engine beneath is given for it. */
	engineWorkflow: object;
	workspace: string;
	workCluster: string;
}

export interface Cluster {
	metadata: { uid: string };
	name: string;
	type: 'virtual' | 'master';
	self: boolean;
	selector?: Record<string, string>;
	/** ISO 8601, UTC. */
	status: { createdAt: string; updatedAt: string; phase: 'Running' | 'Pending' };
}

export interface ClusterList {
	items: Cluster[];
	/** `continue` is there when there is another page. */
	metadata: { continue?: string };
}

export interface ErrorBody {
	code: string;
	message: string;
}

export type Verb = 'suspend' | 'resume' | 'stop' | 'terminate';

/** The contract's operationIds. */
export const operationIds = ['login', 'createJob', 'changeJobState', 'listClusters'] as const;
export type OperationId = (typeof operationIds)[number];
