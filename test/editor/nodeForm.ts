import type { Locator, Page } from 'playwright-core';

/** The window of a node, with its input, its form and its output. */
export class NodeForm {
	readonly element: Locator;
	readonly output: Locator;
	readonly errorTitle: Locator;
	readonly errorDescription: Locator;
	private readonly executeButton: Locator;

	constructor(private readonly page: Page) {
		this.element = page.getByTestId('ndv');
		this.output = page.getByTestId('output-panel');
		this.errorTitle = this.output.getByTestId('node-error-message');
		this.errorDescription = this.output.getByTestId('node-error-description');
		this.executeButton = page.getByTestId('node-execute-button');
	}

	/** The parts for a picture of the form and the output. The input is empty if the node is the first step. */
	get formAndOutput(): Locator[] {
		return [...this.parameters, this.output];
	}

	/** The parts for a picture before there is an output. */
	get inputAndForm(): Locator[] {
		return [this.page.getByTestId('ndv-input-panel'), ...this.parameters];
	}

	private get parameters(): Locator[] {
		return [this.page.getByTestId('tab-params'), this.page.getByTestId('node-parameters')];
	}

	/** Returns a field of the form, or of a part of it. */
	field(name: string, within: Locator = this.element): Locator {
		return within.getByTestId(`parameter-input-${name}`).first();
	}

	async fill(name: string, text: string, within?: Locator): Promise<void> {
		await this.field(name, within).locator('input, textarea').first().fill(text);
	}

	/** Clicks a text field. */
	async click(name: string): Promise<void> {
		await this.field(name).locator('input').click();
	}

	/** Returns a text field while it has the focus. */
	withCursor(name: string): Locator {
		return this.field(name).locator('input:focus');
	}

	/** Presses Tab until an element is reached. Tab also stops at the small buttons between the fields. */
	async tabTo(reached: Locator): Promise<void> {
		for (let presses = 0; presses < 8; presses += 1) {
			await this.page.keyboard.press('Tab');
			if (await reached.isVisible()) return;
		}
		throw new Error('The Tab key led to other fields');
	}

	/** Drags a field of the input into a field of the form with the mouse. */
	async drag(source: Locator, target: Locator): Promise<void> {
		await source.hover();
		await this.page.mouse.down();
		// n8n detects a drag at the first movement of the mouse, and looks for a field below the mouse at the next one.
		await target.hover();
		await target.hover({ position: { x: 20, y: 10 } });
		await this.page.mouse.up();
	}

	/** Lets the model of an agent fill in a field. */
	async leaveToModel(name: string, within = this.element): Promise<void> {
		await this.field(name, within).hover();
		await this.field(name, within).getByTestId('from-ai-override-button').click();
		await within.getByTestId('fromAI-override-field').waitFor();
	}

	/** Chooses an entry of a drop-down. */
	async choose(name: string, option: string): Promise<void> {
		await this.field(name).click();
		await this.option(option).click();
	}

	/** Returns an entry of the open drop-down. */
	option(text: string): Locator {
		return this.page
			.locator('.el-select-dropdown__item, [role=option]')
			.filter({ visible: true })
			.filter({ has: this.page.getByText(text, { exact: true }) });
	}

	/** Returns a group of records, such as Inputs. */
	group(name: string): Locator {
		return this.element.getByTestId(`fixed-collection-${name}`);
	}

	/** Adds a record to a group. */
	async add(group: Locator, button: string): Promise<void> {
		await group.getByRole('button', { name: button }).click();
	}

	/** Adds a field to a collection, such as Options, with its drop-down. */
	async addTo(collection: string, field: string): Promise<void> {
		const label = this.page.getByText(collection, { exact: true });
		const section = this.element.getByTestId('parameter-item').filter({ has: label });
		// Moves the focus away from the previous field, because its tooltip may cover the drop-down.
		await section.getByTestId('input-label').first().click();
		await section.getByTestId('collection-parameter-add').click();
		await this.option(field).click();
	}

	/** Runs the node with its button, and waits until it has succeeded or failed. */
	async execute(): Promise<void> {
		const begun = this.page.waitForResponse('**/rest/workflows/*/run');
		await this.executeButton.click();
		await begun;
		await this.executeButton.locator('.n8n-spinner').waitFor({ state: 'detached' });
		await this.output
			.getByTestId('node-run-status-success')
			.or(this.output.getByTestId('node-run-status-danger'))
			.or(this.errorTitle)
			.first()
			.waitFor();
	}

	/** Chooses how the panel shows the output. */
	async showOutputAs(way: 'schema' | 'table' | 'json'): Promise<void> {
		await this.output.getByTestId(`radio-button-${way}`).click();
	}

	/** Returns the output, as the panel shows it as JSON. */
	async outputAsJson(): Promise<string> {
		await this.showOutputAs('json');
		const json = this.output.locator('.json-data, .vjs-tree').first();
		await json.waitFor();
		return await json.innerText();
	}

	/** Returns the visible title and description of the error. */
	async error(): Promise<{ title: string; description: string }> {
		await this.errorTitle.waitFor();
		return {
			title: await this.errorTitle.innerText(),
			description: await this.errorDescription.innerText(),
		};
	}

	async close(): Promise<void> {
		// n8n 1.x has the second one.
		const close = this.page.getByTestId('ndv-close-button');
		await close.or(this.page.getByTestId('back-to-canvas')).click();
		await this.element.waitFor({ state: 'hidden' });
	}
}
