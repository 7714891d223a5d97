import { resultOf, type ExecutionResult } from './executionResult';
import { N8nClient, Refused } from './n8nClient';
import { Problem } from './problem';
import { waitFor } from './wait';

/** The owner of an n8n, by which one logs in. */
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
	/** By their types. */
	credentials?: Record<string, { id: string; name: string }>;
	[key: string]: unknown;
}

/** A workflow that n8n holds. */
export interface SavedWorkflow extends WorkflowFile {
	id: string;
	versionId: string;
	active: boolean;
	/** n8n's editor neither lists nor counts those. Older releases have none. */
	isArchived?: boolean;
	tags?: Array<{ name: string }>;
}

/** An execution, as the list of executions shows it. */
export interface Execution {
	id: string;
	workflowId: string;
	/** `new`, `running`, `waiting`, or how it ended: `success`, `error`, `crashed`, `canceled`. */
	status: string;
	/** What started it: `trigger`, `webhook`, `manual` and so on. */
	mode: string;
	startedAt: string;
	stoppedAt?: string | null;
	/** When its wait ends, while it waits. */
	waitTill?: string | null;
}

/** A credential with its values. */
export interface NewCredential {
	name: string;
	type: string;
	data: Record<string, unknown>;
}

/**
 * The calls of n8n's own API that the editor makes, as far as they are needed here. The API is not
 * documented; these are from n8n 2.40's workflows.controller.js, credentials.controller.js,
 * executions.controller.js, owner.controller.js and auth.controller.js.
 */
export class N8nApi extends N8nClient {
	/** Whether this n8n had no owner before: it is a first start. */
	isNew = false;

	/** @param url where n8n is, without a slash at the end */
	static async open(url: string, owner: Owner): Promise<N8nApi> {
		const api = new N8nApi(url);
		await api.logIn(owner);
		return api;
	}

	/** Logs in. An n8n that has no owner yet is given this one, by which its editor needs no set-up. */
	async logIn({ email, password }: Owner): Promise<void> {
		const { userManagement } = await this.call<{
			userManagement: { showSetupOnFirstLoad?: boolean };
		}>('GET', '/rest/settings');
		this.isNew = userManagement.showSetupOnFirstLoad === true;
		if (this.isNew) {
			const owner = { email, password, firstName: 'Sandbox', lastName: 'Owner' };
			await this.call('POST', '/rest/owner/setup', owner);
		} else {
			// n8n 1.x before 1.100 or so names the first field `email`.
			await this.call('POST', '/rest/login', { emailOrLdapLoginId: email, email, password });
		}
	}

	/** The values of a credential, its secrets left out; undefined if no credential has this name and type. */
	async credentialData(name: string, type: string): Promise<NewCredential['data'] | undefined> {
		const found = await this.findCredential({ name, type });
		if (found === undefined) return undefined;
		const path = `/rest/credentials/${found.id}?includeData=true`;
		return (await this.call<{ data?: NewCredential['data'] }>('GET', path)).data;
	}

	/** Makes a credential, or changes the one of this name and type. */
	async saveCredential(credential: NewCredential): Promise<string> {
		const found = await this.findCredential(credential);
		const { id } = found
			? await this.call<{ id: string }>('PATCH', `/rest/credentials/${found.id}`, credential)
			: await this.call<{ id: string }>('POST', '/rest/credentials', credential);
		return id;
	}

	/** The workflows that n8n holds, archived ones too, without what is in them. */
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

	/** Brings in a workflow. Its credentials are found by their names, as n8n 2.x does. */
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
	 * Lets a workflow's triggers and webhooks fire, in this version of it, and waits until they do.
	 * @throws Problem when one of them can't, with what n8n says of it
	 */
	async activate({ id, versionId }: Pick<SavedWorkflow, 'id' | 'versionId'>): Promise<void> {
		await this.call('POST', `/rest/workflows/${id}/activate`, { versionId });
		await this.publication(id);
	}

	/** Stops a workflow's triggers and webhooks, and waits until they are. */
	async deactivate(id: string): Promise<void> {
		await this.call('POST', `/rest/workflows/${id}/deactivate`, {});
		await this.publication(id);
	}

	/** Newer n8n answers before it has begun (its workflow-publication-status.service.js). */
	private async publication(id: string): Promise<void> {
		const settled = await waitFor(
			async () => {
				const path = `/rest/workflows/${id}/publication-status`;
				const now = await this.call<PublicationStatus>('GET', path).catch((error: unknown) => {
					// An n8n that doesn't know this call has done it when it answers.
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
	 * Runs a workflow as its button in the editor does.
	 * @param trigger the name of the trigger to start from
	 * @returns the id of its execution, which goes on
	 */
	async run(workflowId: string, trigger: string): Promise<string> {
		// n8n 1.x wants the workflow with it.
		const workflowData = await this.workflow(workflowId);
		const body = { workflowData, triggerToStartFrom: { name: trigger } };
		const { executionId } = await this.call<{ executionId: string }>(
			'POST',
			`/rest/workflows/${workflowId}/run`,
			body,
		);
		return executionId;
	}

	/** The latest executions of a workflow, the latest first; those of some statuses where they are named. */
	async executions(workflowId: string, status?: string[]): Promise<Execution[]> {
		const filter = JSON.stringify({ workflowId, status });
		const query = new URLSearchParams({ filter, limit: '100' });
		const path = `/rest/executions?${query.toString()}`;
		return (await this.call<{ results: Execution[] }>('GET', path)).results;
	}

	/** What an execution did. */
	async executionResult(id: string): Promise<ExecutionResult> {
		return await resultOf((await this.execution(id)).data);
	}

	/** An execution as n8n stores it: its data, and the highlighted data that nodes have set. */
	async execution(id: string): Promise<{ data: string; customData?: Record<string, string> }> {
		return await this.call('GET', `/rest/executions/${id}`);
	}

	/** What n8n shows of an execution if its data is redacted, as JSON. */
	async redactedExecution(id: string): Promise<string> {
		const path = `/rest/executions/${id}?redactExecutionData=true`;
		return JSON.stringify(await this.call('GET', path));
	}

	/** All rows of a data table, in the order of their ids; none where there is no such table. */
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

	/** Adds rows to a data table that there is. */
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

/** n8n gives no more rows of a data table at once. */
const ROWS_OF_A_PAGE = 250;

/** A data table, as far as it is needed to find its rows. */
interface DataTable {
	id: string;
	name: string;
	projectId: string;
}

/** How far a workflow's triggers are. */
interface PublicationStatus {
	status: string;
	triggers: Array<{ status: string; errorMessage: string | null }>;
}
