import type { Locator, Page } from 'playwright-core';

/** The panel at the right, in which one looks for a node. */
export class NodePanel {
	readonly element: Locator;
	private readonly search: Locator;

	constructor(private readonly page: Page) {
		this.element = page.getByTestId('node-creator').locator('aside');
		this.search = page.getByTestId('node-creator-search-bar');
	}

	/** Types into its search, which has the cursor from the start. */
	async find(text: string): Promise<void> {
		await this.search.waitFor();
		await this.search.fill('');
		await this.page.keyboard.type(text);
	}

	/** The nodes, or the actions of a node, with this name. */
	named(name: string): Locator {
		return this.element
			.getByTestId('item-iterator-item')
			.filter({ has: this.page.getByText(name, { exact: true }) });
	}

	/** Opens a node, to see its actions. */
	async open(name: string): Promise<void> {
		await this.named(name).click();
		await this.element.getByText('Node details').waitFor();
		// The list glides out while the actions glide in.
		await this.element.nth(1).waitFor({ state: 'detached' });
	}

	/** Headings and actions, as they stand there from top to bottom, below the heading of all actions. */
	async actions(): Promise<string[]> {
		const list = this.element.locator('[is-trigger=false]').getByTestId('item-iterator-item');
		await list.first().waitFor();
		const texts = await list.allInnerTexts();
		return texts.map((text) => text.trim());
	}
}
