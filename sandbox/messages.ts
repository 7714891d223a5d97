/*
 * The types of the requests in contract/openapi.yaml. A request has its type once it was validated against the
 * contract. This file has no types of responses: their types are inferred from the code that creates them, and the
 * tests validate the responses against the contract.
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

/** The operationIds in the contract. */
export type OperationId = 'login' | 'createJob' | 'changeJobState' | 'listClusters';
