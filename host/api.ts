import {
	credentialData,
	credentialType,
	sandboxCredential,
	type ServiceAccess,
} from './credential';
import { resultOf, type ExecutionResult } from './executionResult';
import { N8nClient } from './n8nClient';
import type { Owner } from './owner';
import { Problem } from './problem';
import { waitFor } from './wait';

/** A workflow as n8n exports and imports it. */
export interface WorkflowFile {
	name: string;
	nodes: WorkflowNode[];
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
	[key: string]: unknown;
}

/** A node of a workflow. */
export interface WorkflowNode {
	name: string;
	type: string;
	parameters: Record<string, unknown>;
	/** For each credential type, the credential that the node uses. */
	credentials?: Record<string, { id: string; name: string }>;
	[key: string]: unknown;
}

/** A workflow in n8n's database. */
export interface SavedWorkflow extends WorkflowFile {
	id: string;
	versionId: string;
	active: boolean;
}

/** An execution, as n8n's list of executions contains it. */
export interface Execution {
	id: string;
	workflowId: string;
	/** `new`, `running` or `waiting`, or how the execution ended: `success`, `error`, `crashed` or `canceled`. */
	status: string;
	/** What started the execution, such as `trigger`, `webhook` or `manual`. */
	mode: string;
	startedAt: string;
	stoppedAt?: string | null;
	/** When the execution continues, if it is waiting. */
	waitTill?: string | null;
}

/** A credential with the values of its fields. */
export interface NewCredential {
	name: string;
	type: string;
	data: Record<string, unknown>;
}

/**
 * Makes calls of the internal API that n8n's editor uses. This API isn't documented. The calls are those of n8n 2.40,
 * in its files workflows.controller.js, credentials.controller.js, executions.controller.js, owner.controller.js and
 * auth.controller.js.
 */
export class N8nApi extends N8nClient {
	/**
	 * Returns a client that is logged in.
	 * @param url the URL of n8n, without a slash at the end
	 */
	static async open(url: string, owner: Owner): Promise<N8nApi> {
		const api = new N8nApi(url);
		await api.logIn(owner);
		return api;
	}

	async logIn({ email, password }: Owner): Promise<void> {
		await this.call('POST', '/rest/login', { emailOrLdapLoginId: email, password });
	}

	/** Creates a credential, and returns its ID. */
	async createCredential(credential: NewCredential): Promise<string> {
		return (await this.call<{ id: string }>('POST', '/rest/credentials', credential)).id;
	}

	/** Saves the address and the login of a service in the credential that the examples use. */
	async useService(service: ServiceAccess): Promise<void> {
		const { name } = sandboxCredential;
		const credential = { name, type: credentialType, data: credentialData(service) };
		const all = await this.call<Array<{ id: string; name: string }>>('GET', '/rest/credentials');
		const known = all.find((each) => each.name === name);
		if (known === undefined) await this.createCredential(credential);
		else await this.call('PATCH', `/rest/credentials/${known.id}`, credential);
	}

	async workflow(id: string): Promise<SavedWorkflow> {
		return await this.call('GET', `/rest/workflows/${id}`);
	}

	/** Creates a workflow that isn't active. n8n replaces the IDs of credentials that it doesn't have, by their names. */
	async createWorkflow(workflow: WorkflowFile): Promise<SavedWorkflow> {
		const inactive = { ...workflow, id: undefined, active: false };
		return await this.call('POST', '/rest/workflows', inactive);
	}

	async changeWorkflow(id: string, change: Partial<WorkflowFile>): Promise<SavedWorkflow> {
		return await this.call('PATCH', `/rest/workflows/${id}`, change);
	}

	/**
	 * Activates a version of a workflow, and waits until its triggers and webhooks are active.
	 * @throws Problem with n8n's message, if a trigger can't be activated
	 */
	async activate({ id, versionId }: Pick<SavedWorkflow, 'id' | 'versionId'>): Promise<void> {
		await this.call('POST', `/rest/workflows/${id}/activate`, { versionId });
		await this.publication(id);
	}

	/** Deactivates a workflow, and waits until its triggers and webhooks are inactive. */
	async deactivate(id: string): Promise<void> {
		await this.call('POST', `/rest/workflows/${id}/deactivate`, {});
		await this.publication(id);
	}

	/**
	 * Waits until n8n has activated or deactivated the triggers of a workflow. Newer releases of n8n respond before
	 * they have done so (see n8n's workflow-publication-status.service.js).
	 * @throws Problem if a trigger fails, or if n8n isn't done within 30 seconds
	 */
	private async publication(id: string): Promise<void> {
		const settled = await waitFor(
			async () => {
				const path = `/rest/workflows/${id}/publication-status`;
				const now = await this.call<PublicationStatus>('GET', path);
				return now.status === 'in_progress' ? undefined : now;
			},
			{ timeout: 30_000 },
		);
		const failed = settled?.triggers.find(({ status }) => status === 'failed');
		if (settled && !failed) return;
		throw new Problem(
			`n8n could not (de)activate workflow ${id}: ${failed?.errorMessage ?? 'it took too long'}`,
		);
	}

	/**
	 * Starts a workflow, as the button *Execute workflow* of the editor does. Doesn't wait for the execution to end.
	 * @param trigger the name of the trigger to start from
	 * @returns the ID of the execution
	 */
	async run(workflowId: string, trigger: string): Promise<string> {
		const body = { triggerToStartFrom: { name: trigger } };
		const path = `/rest/workflows/${workflowId}/run`;
		return (await this.call<{ executionId: string }>('POST', path, body)).executionId;
	}

	/**
	 * Returns the latest 100 executions of a workflow, the latest first.
	 * @param status the statuses of the executions to return; undefined for all executions
	 */
	async executions(workflowId: string, status?: string[]): Promise<Execution[]> {
		const filter = JSON.stringify({ workflowId, status });
		const query = new URLSearchParams({ filter, limit: '100' });
		const path = `/rest/executions?${query.toString()}`;
		return (await this.call<{ results: Execution[] }>('GET', path)).results;
	}

	/** Returns the output and the error of an execution. */
	async executionResult(id: string): Promise<ExecutionResult> {
		return await resultOf((await this.execution(id)).data);
	}

	/** Returns an execution as n8n stores it: its data as a text, and the highlighted data that its nodes have set. */
	async execution(id: string): Promise<{ data: string; customData?: Record<string, string> }> {
		return await this.call('GET', `/rest/executions/${id}`);
	}

	/** Returns, as JSON, what n8n shows of an execution whose data is redacted. */
	async redactedExecution(id: string): Promise<string> {
		const path = `/rest/executions/${id}?redactExecutionData=true`;
		return JSON.stringify(await this.call('GET', path));
	}

	/** Returns all rows of a data table, sorted by their IDs; an empty list if the table doesn't exist. */
	async dataTableRows(name: string): Promise<Array<Record<string, unknown>>> {
		const path = await this.dataTablePath(name);
		const rows: Array<Record<string, unknown>> = [];
		for (let more = path !== undefined; more; ) {
			const query = `take=${ROWS_OF_A_PAGE}&skip=${rows.length}&sortBy=id:asc`;
			const { data } = await this.call<{ data: typeof rows }>('GET', `${path}/rows?${query}`);
			rows.push(...data);
			more = data.length === ROWS_OF_A_PAGE;
		}
		return rows;
	}

	/** Adds rows to a data table. The table must exist. */
	async addDataTableRows(name: string, data: Array<Record<string, unknown>>): Promise<void> {
		const path = await this.dataTablePath(name);
		await this.call('POST', `${path}/insert`, { data, returnType: 'count' });
	}

	private async dataTablePath(name: string): Promise<string | undefined> {
		const tables = await this.call<{ data: DataTable[] }>('GET', '/rest/data-tables-global');
		const table = tables.data.find((candidate) => candidate.name === name);
		return table && `/rest/projects/${table.projectId}/data-tables/${table.id}`;
	}
}

/** The maximum number of rows in a response of n8n. */
const ROWS_OF_A_PAGE = 250;

/** The fields of a data table that are needed to find its rows. */
interface DataTable {
	id: string;
	name: string;
	projectId: string;
}

/** The progress of the activation or deactivation of a workflow. */
interface PublicationStatus {
	status: string;
	triggers: Array<{ status: string; errorMessage: string | null }>;
}
