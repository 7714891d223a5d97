import { resultOf, type ExecutionResult } from './executionResult';
import { N8nClient, Refused } from './n8nClient';
import { Problem } from './problem';
import { waitFor } from './wait';

/** The login of the owner of an n8n. */
export interface Owner {
	email: string;
	password: string;
}

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
	/** n8n's editor neither lists nor counts archived workflows. Older releases of n8n don't have this field. */
	isArchived?: boolean;
	tags?: Array<{ name: string }>;
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
	/** Whether n8n had no owner before the login, because its database is new. */
	isNew = false;

	/**
	 * Returns a client that is logged in.
	 * @param url the URL of n8n, without a slash at the end
	 */
	static async open(url: string, owner: Owner): Promise<N8nApi> {
		const api = new N8nApi(url);
		await api.logIn(owner);
		return api;
	}

	/** Logs in. If n8n has no owner yet, makes this owner its owner, so that the editor needs no set-up. */
	async logIn({ email, password }: Owner): Promise<void> {
		const { userManagement } = await this.call<{
			userManagement: { showSetupOnFirstLoad?: boolean };
		}>('GET', '/rest/settings');
		this.isNew = userManagement.showSetupOnFirstLoad === true;
		if (this.isNew) {
			const owner = { email, password, firstName: 'Sandbox', lastName: 'Owner' };
			await this.call('POST', '/rest/owner/setup', owner);
		} else {
			// In n8n 1.x, up to about 1.100, the field `emailOrLdapLoginId` is called `email`.
			await this.call('POST', '/rest/login', { emailOrLdapLoginId: email, email, password });
		}
	}

	/** Returns the values of a credential without its secrets; undefined if no credential has this name and type. */
	async credentialData(name: string, type: string): Promise<NewCredential['data'] | undefined> {
		const found = await this.findCredential({ name, type });
		if (found === undefined) return undefined;
		const path = `/rest/credentials/${found.id}?includeData=true`;
		return (await this.call<{ data?: NewCredential['data'] }>('GET', path)).data;
	}

	/**
	 * Creates a credential, or updates the credential that has its name and type.
	 * @returns the ID of the credential
	 */
	async saveCredential(credential: NewCredential): Promise<string> {
		const found = await this.findCredential(credential);
		const { id } = found
			? await this.call<{ id: string }>('PATCH', `/rest/credentials/${found.id}`, credential)
			: await this.call<{ id: string }>('POST', '/rest/credentials', credential);
		return id;
	}

	/** Returns all workflows, including archived workflows, without their nodes. */
	async workflows(): Promise<
		Array<Pick<SavedWorkflow, 'id' | 'name' | 'active' | 'isArchived' | 'tags'>>
	> {
		return await this.call('GET', '/rest/workflows');
	}

	async workflow(id: string): Promise<SavedWorkflow> {
		return await this.call('GET', `/rest/workflows/${id}`);
	}

	/** Returns the ID of the workflow tag with this name, and creates the tag if it doesn't exist. */
	async tagId(name: string): Promise<string> {
		const tags = await this.call<Array<{ id: string; name: string }>>('GET', '/rest/tags');
		const found = tags.find((tag) => tag.name === name);
		return (found ?? (await this.call<{ id: string }>('POST', '/rest/tags', { name }))).id;
	}

	/**
	 * Creates a workflow that isn't active. Its nodes get the IDs of the credentials that have the names and types in
	 * the nodes, as in an import by n8n 2.x.
	 */
	async createWorkflow(workflow: WorkflowFile): Promise<SavedWorkflow> {
		const held = await this.credentials();
		const withIds = (credentials: NonNullable<WorkflowNode['credentials']>) =>
			Object.fromEntries(
				Object.entries(credentials).map(([type, { id, name }]) => {
					const found = held.find((other) => other.type === type && other.name === name);
					return [type, { id: found?.id ?? id, name }];
				}),
			);
		return await this.call('POST', '/rest/workflows', {
			...workflow,
			nodes: workflow.nodes.map((node) =>
				node.credentials === undefined ? node : { ...node, credentials: withIds(node.credentials) },
			),
			id: undefined,
			active: false,
		});
	}

	private async findCredential({ name, type }: Pick<NewCredential, 'name' | 'type'>) {
		const held = await this.credentials();
		return held.find((credential) => credential.name === name && credential.type === type);
	}

	private async credentials(): Promise<Array<{ id: string; name: string; type: string }>> {
		return await this.call('GET', '/rest/credentials');
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
				const now = await this.call<PublicationStatus>('GET', path).catch((error: unknown) => {
					// A release of n8n without this call has already activated or deactivated the workflow.
					if (error instanceof Refused && error.status === 404)
						return { status: 'unknown', triggers: [] };
					throw error;
				});
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
		// n8n 1.x requires the workflow in the request.
		const workflowData = await this.workflow(workflowId);
		const body = { workflowData, triggerToStartFrom: { name: trigger } };
		const { executionId } = await this.call<{ executionId: string }>(
			'POST',
			`/rest/workflows/${workflowId}/run`,
			body,
		);
		return executionId;
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
