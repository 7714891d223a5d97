import type { Locator, Page } from 'playwright-core';

/** The panel at the right in which users search for nodes. */
export class NodePanel {
	readonly element: Locator;
	private readonly search: Locator;

	constructor(private readonly page: Page) {
		this.element = page.getByTestId('node-creator').locator('aside');
		this.search = page.getByTestId('node-creator-search-bar');
	}

	/** Types into the search of the panel, which has the focus. */
	async find(text: string): Promise<void> {
		await this.search.waitFor();
		await this.search.fill('');
		await this.page.keyboard.type(text);
	}

	/** Returns the nodes, or the actions of a node, with this name. */
	named(name: string): Locator {
		return this.element
			.getByTestId('item-iterator-item')
			.filter({ has: this.page.getByText(name, { exact: true }) });
	}

	/** Opens the actions of a node. */
	async open(name: string): Promise<void> {
		await this.named(name).click();
		await this.element.getByText('Node details').waitFor();
		// During the animation, the panel shows both the list and the actions.
		await this.element.nth(1).waitFor({ state: 'detached' });
	}

	/** Returns from the actions of a node to the list of nodes. */
	async goBack(): Promise<void> {
		await this.element.locator('header button').first().click();
		await this.search.waitFor();
	}

	/** Returns the headings and the actions from top to bottom, below the heading of all actions. */
	async actions(): Promise<string[]> {
		const list = this.element.locator('[is-trigger=false]').getByTestId('item-iterator-item');
		await list.first().waitFor();
		const texts = await list.allInnerTexts();
		return texts.map((text) => text.trim());
	}
}
