import type { Locator, Page } from 'playwright-core';

/** The field Work Cluster, with its drop-down and its mode By ID. */
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

	/** The field while it has the focus. It then opens the drop-down, whose search takes over the focus. */
	get withCursor(): Locator {
		return this.search.or(this.input.and(this.page.locator(':focus')));
	}

	/** Waits until the drop-down shows an entry. */
	async opened(): Promise<void> {
		await this.entries.first().waitFor();
	}

	/** Types into the search of the drop-down, which has the focus, and waits until only this entry is left. */
	async searchFor(text: string, found: string): Promise<void> {
		await this.search.fill('');
		await this.page.keyboard.type(text);
		await this.entries.nth(1).waitFor({ state: 'detached' });
		await this.entries.filter({ hasText: found }).waitFor();
	}
}
