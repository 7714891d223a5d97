import type { Locator, Page } from 'playwright-core';

import { NodeForm } from './nodeForm';
import { NodePanel } from './nodePanel';

/** n8n's editor with a workflow. */
export class Editor {
	readonly panel: NodePanel;
	readonly form: NodeForm;

	constructor(readonly page: Page) {
		this.panel = new NodePanel(page);
		this.form = new NodeForm(page);
	}

	/** Opens the editor with a new workflow. */
	async openNew(): Promise<void> {
		await this.page.goto('/workflow/new');
		await this.addFirstStep.waitFor();
	}

	/** Opens the editor with a saved workflow. */
	async open(workflowId: string): Promise<void> {
		await this.page.goto(`/workflow/${workflowId}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
	}

	get addFirstStep(): Locator {
		return this.page.getByTestId('canvas-add-button').first();
	}

	/** Returns a node on the canvas. */
	node(name: string): Locator {
		return this.page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	}

	/** Opens the window of a node. */
	async openNode(name: string): Promise<NodeForm> {
		await this.node(name).dblclick();
		await this.page.getByTestId('node-parameters').waitFor();
		return this.form;
	}

	/** Adds the node to a new workflow by one of its actions, which opens the window of the node. */
	async addAction(action: string): Promise<NodeForm> {
		await this.addFirstStep.click();
		await this.panel.find('job orchestration');
		await this.panel.open('Job Orchestration');
		return await this.chooseAction(action);
	}

	/** Adds the node by one of its actions, which the panel shows. This opens the window of the node. */
	async chooseAction(action: string): Promise<NodeForm> {
		await this.panel.named(action).click();
		await this.page.getByTestId('node-parameters').waitFor();
		return this.form;
	}

	/** Adds a node to an agent as a tool with the plus below the agent, which opens the window of the node. */
	async addTool(agent: string, tool: string): Promise<void> {
		// If the plus is clicked before the editor knows all nodes, it opens a list without tools.
		await this.page.waitForLoadState('networkidle');
		const handle = this.node(agent).locator('[data-handleid="inputs/ai_tool/0"]');
		await handle.getByTestId('canvas-handle-plus').click();
		await this.panel.element.getByText('Recommended Tools').waitFor();
		await this.panel.find(tool);
		await this.panel.named(tool).click();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** Starts the workflow with its button. */
	async execute(): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').click();
	}

	/** Returns a temporary notification at the lower right. */
	notice(text: string): Locator {
		return this.page.locator('.el-notification').filter({ hasText: text });
	}
}
