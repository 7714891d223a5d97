import type { Locator, Page } from 'playwright-core';

import { NodeForm } from './nodeForm';
import { NodePanel } from './nodePanel';

/** n8n's editor with a workflow in it. */
export class Editor {
	readonly panel: NodePanel;
	readonly form: NodeForm;

	constructor(readonly page: Page) {
		this.panel = new NodePanel(page);
		this.form = new NodeForm(page);
	}

	/** Opens it with a new workflow. */
	async openNew(): Promise<void> {
		await this.page.goto('/workflow/new');
		await this.addFirstStep.waitFor();
	}

	/** Opens it with a workflow that n8n holds. */
	async open(workflowId: string): Promise<void> {
		await this.page.goto(`/workflow/${workflowId}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
	}

	get addFirstStep(): Locator {
		return this.page.getByTestId('canvas-add-button').first();
	}

	/** A node on the canvas. */
	node(name: string): Locator {
		return this.page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	}

	/** Opens a node's window. */
	async openNode(name: string): Promise<NodeForm> {
		await this.node(name).dblclick();
		await this.page.getByTestId('node-parameters').waitFor();
		return this.form;
	}

	/** Adds the node to a new workflow by one of its actions, which opens its window. */
	async addAction(action: string): Promise<NodeForm> {
		await this.addFirstStep.click();
		await this.panel.find('job orchestration');
		await this.panel.open('Job Orchestration');
		await this.panel.named(action).click();
		await this.page.getByTestId('node-parameters').waitFor();
		return this.form;
	}

	/** Adds a node to an agent as a tool, by the plus below it, which opens its window. */
	async addTool(agent: string, tool: string): Promise<void> {
		// Clicked before the editor knows all nodes, the plus opens a list without tools.
		await this.page.waitForLoadState('networkidle');
		const handle = this.node(agent).locator('[data-handleid="inputs/ai_tool/0"]');
		await handle.getByTestId('canvas-handle-plus').click();
		await this.panel.element.getByText('Recommended Tools').waitFor();
		await this.panel.find(tool);
		await this.panel.named(tool).click();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** Starts the workflow by its button. */
	async execute(): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').click();
	}

	/** A notice that passes, at the lower right. */
	notice(text: string): Locator {
		return this.page.locator('.el-notification').filter({ hasText: text });
	}
}
