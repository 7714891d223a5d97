import type { Locator, Page } from 'playwright-core';

/** The field Work Cluster: its drop-down, and giving an ID instead. */
export class ClusterList {
	readonly entries: Locator;
	readonly input: Locator;
	private readonly field: Locator;
	private readonly search: Locator;

	constructor(private readonly page: Page) {
		this.field = page.getByTestId('resource-locator-workCluster');
		this.input = this.field
			.getByTestId('rlc-input')
			.locator('input')
			.or(this.field.locator('input[data-test-id=rlc-input]'))
			.first();
		this.entries = page.getByTestId('rlc-item');
		this.search = page.getByTestId('rlc-search');
	}

	/** The field while it has the cursor: with it, the drop-down opens, and its search takes the cursor over. */
	get withCursor(): Locator {
		return this.search.or(this.input.and(this.page.locator(':focus')));
	}

	/** Waits until the drop-down shows something. */
	async opened(): Promise<void> {
		await this.entries.first().waitFor();
	}

	/** Types into its search, which has the cursor from the start, and waits until this entry alone is left. */
	async searchFor(text: string, found: string): Promise<void> {
		await this.search.fill('');
		await this.page.keyboard.type(text);
		await this.entries.nth(1).waitFor({ state: 'detached' });
		await this.entries.filter({ hasText: found }).waitFor();
	}

	async giveId(): Promise<void> {
		await this.field.getByTestId('rlc-mode-selector').click();
		await this.page
			.locator('.el-select-dropdown__item')
			.filter({ visible: true, hasText: 'By ID' })
			.click();
	}
}
