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
}

/** What an execution did. */
export interface ExecutionResult {
	/** What each node put out at its first output in its last run, by its name. */
	output: Record<string, Array<Record<string, unknown>>>;
	/** What stopped it, with the name of the node that did. */
	error?: string;
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
export class N8nApi {
	private cookie = '';

	private constructor(private readonly url: string) {}

	/**
	 * Logs in. An n8n that has no owner yet is given this one, by which its editor needs no set-up.
	 * @param url where n8n is, without a slash at the end
	 */
	static async open(url: string, { email, password }: Owner): Promise<N8nApi> {
		const api = new N8nApi(url);
		const { userManagement } = await api.call<{
			userManagement: { showSetupOnFirstLoad?: boolean };
		}>('GET', '/rest/settings');
		if (userManagement.showSetupOnFirstLoad) {
			const owner = { email, password, firstName: 'Sandbox', lastName: 'Owner' };
			await api.call('POST', '/rest/owner/setup', owner);
		} else {
			// n8n 1.x before 1.100 or so names the first field `email`.
			await api.call('POST', '/rest/login', { emailOrLdapLoginId: email, email, password });
		}
		return api;
	}

	/** Makes a credential, or changes the one of this name and type. */
	async saveCredential(credential: NewCredential): Promise<string> {
		const existing = await this.credentials();
		const found = existing.find(
			({ name, type }) => name === credential.name && type === credential.type,
		);
		const { id } = found
			? await this.call<{ id: string }>('PATCH', `/rest/credentials/${found.id}`, credential)
			: await this.call<{ id: string }>('POST', '/rest/credentials', credential);
		return id;
	}

	/** The workflows that n8n holds, without what is in them. */
	async workflows(): Promise<Array<Pick<SavedWorkflow, 'id' | 'name' | 'active'>>> {
		return await this.call('GET', '/rest/workflows');
	}

	async workflow(id: string): Promise<SavedWorkflow> {
		return await this.call('GET', `/rest/workflows/${id}`);
	}

	/** Brings in a workflow. Its credentials are found by their names, as n8n 2.x does it by itself. */
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
				const now = await this.publicationStatus(id);
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

	private async publicationStatus(id: string): Promise<PublicationStatus> {
		try {
			return await this.call('GET', `/rest/workflows/${id}/publication-status`);
		} catch (error) {
			// An n8n that doesn't know this call has done it when it answers.
			if (error instanceof Refused && error.status === 404)
				return { status: 'unknown', triggers: [] };
			throw error;
		}
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

	/** The latest executions of a workflow, the latest first. */
	async executions(workflowId: string): Promise<Execution[]> {
		const { results } = await this.listExecutions({ workflowId });
		return results;
	}

	/** How many executions of a workflow have one of these statuses. */
	async countExecutions(workflowId: string, status: string[]): Promise<number> {
		const { count } = await this.listExecutions({ workflowId, status });
		return count;
	}

	private async listExecutions(filter: { workflowId: string; status?: string[] }) {
		const query = new URLSearchParams({ filter: JSON.stringify(filter), limit: '20' });
		const path = `/rest/executions?${query.toString()}`;
		return await this.call<{ results: Execution[]; count: number }>('GET', path);
	}

	/** What an execution did. */
	async executionResult(id: string): Promise<ExecutionResult> {
		const { data } = await this.call<{ data: string }>('GET', `/rest/executions/${id}`);
		const { parse } = await import('flatted');
		return resultOf(parse(data) as ExecutionData);
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

	/**
	 * Any call of the API.
	 * @throws Refused with what n8n said, or Problem when it doesn't answer
	 */
	async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
		const response = await this.send(path, {
			method,
			headers: {
				// A connection that is kept may be one that n8n is closing at that moment.
				connection: 'close',
				...(this.cookie && { cookie: this.cookie }),
				...(body !== undefined && { 'content-type': 'application/json' }),
			},
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		for (const cookie of response.headers.getSetCookie()) {
			const [pair = ''] = cookie.split(';');
			if (pair.startsWith('n8n-auth=')) this.cookie = pair;
		}
		const text = await response.text();
		if (!response.ok) {
			const says = messageOf(text);
			throw new Refused(
				`n8n refused ${method} ${path} with ${response.status}: ${says}`,
				response.status,
			);
		}
		return (JSON.parse(text) as { data: T }).data;
	}

	private async send(path: string, init: RequestInit): Promise<Response> {
		try {
			return await fetch(this.url + path, init);
		} catch {
			throw new Problem(`n8n does not answer at ${this.url} any more.`);
		}
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

/** Thrown where n8n refuses a call. */
class Refused extends Problem {
	constructor(
		message: string,
		/** The HTTP status. */
		readonly status: number,
	) {
		super(message);
		this.name = 'Refused';
	}
}

/** How far a workflow's triggers are. */
interface PublicationStatus {
	status: string;
	triggers: Array<{ status: string; errorMessage: string | null }>;
}

/** The part of an execution's data that is read here (IRunExecutionData in n8n-workflow). */
interface ExecutionData {
	resultData: {
		error?: { message?: string; description?: string | null };
		lastNodeExecuted?: string;
		runData: Record<
			string,
			Array<{ data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> } }>
		>;
	};
}

function resultOf({ resultData }: ExecutionData): ExecutionResult {
	const output = Object.entries(resultData.runData).map(([name, runs]) => {
		const items = runs.at(-1)?.data?.main?.[0] ?? [];
		return [name, items.map(({ json }) => json)] as const;
	});
	const { error, lastNodeExecuted } = resultData;
	const says = [error?.message ?? 'an error without a text', error?.description].filter(Boolean);
	return {
		output: Object.fromEntries(output),
		...(error && { error: [lastNodeExecuted, says.join(' ')].filter(Boolean).join(': ') }),
	};
}

function messageOf(text: string): string {
	try {
		const { message } = JSON.parse(text) as { message?: unknown };
		return typeof message === 'string' ? message : text.slice(0, 300);
	} catch {
		return text.slice(0, 300);
	}
}
