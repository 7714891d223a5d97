/*
 * The requests of contract/openapi.yaml as types, which they have once they have passed the contract's check. The
 * answers have the types of what makes them, and the tests check them by the contract.
 */

export interface LoginRequest {
	userName: string;
	password: string | number;
	type: 'basic';
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

export type Verb = 'suspend' | 'resume' | 'stop' | 'terminate';

/** The contract's operationIds. */
export const operationIds = ['login', 'createJob', 'changeJobState', 'listClusters'] as const;
export type OperationId = (typeof operationIds)[number];
