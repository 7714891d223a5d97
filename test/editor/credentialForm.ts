import type { Locator, Page } from 'playwright-core';

/** What is filled into the form of a credential. */
export interface Entries {
	baseUrl: string;
	userName: string;
	password: string;
}

/** The form of a credential. */
export class CredentialForm {
	/** The window that it is in. */
	readonly dialog: Locator;
	private readonly element: Locator;
	private readonly success: Locator;
	private readonly failure: Locator;

	constructor(private readonly page: Page) {
		this.element = page.getByTestId('credential-edit-dialog').first();
		this.dialog = page.locator('.el-dialog').filter({ has: this.element });
		this.success = this.element.getByTestId('credentials-config-container-test-success');
		this.failure = this.element
			.locator('.el-tag--danger')
			.filter({ visible: true, hasText: 'Couldn’t connect with these settings' });
	}

	/** Opens an empty one, as the button Create Credential does, found by the type's name. */
	async openNew(type: string): Promise<void> {
		await this.page.goto('/home/credentials/create');
		const search = this.page.getByTestId('new-credential-type-select').locator('input');
		await search.fill(type);
		// n8n 1.x hides those that don't match.
		const options = this.page.getByTestId('new-credential-type-select-option');
		await options.filter({ visible: true }).first().click();
		await this.page.getByTestId('new-credential-type-button').click();
		await this.element.waitFor();
	}

	async fill(entries: Partial<Entries>): Promise<void> {
		for (const [name, text] of Object.entries(entries)) {
			await this.field(name).locator('input').fill(text);
		}
	}

	field(name: string): Locator {
		return this.element.getByTestId(`parameter-input-${name}`);
	}

	/** Saves it, by which n8n tests it, and waits until the form says that it succeeded. */
	async saveAndSucceed(): Promise<string> {
		await this.save();
		const [said] = (await this.success.innerText()).split('\n');
		return said?.trim() ?? '';
	}

	/**
	 * Saves it, by which n8n tests it, and waits until the form says that it failed.
	 * @returns the reason that the form gives below More Details
	 */
	async saveAndFail(): Promise<string> {
		const { message } = await this.save();
		const more = this.failure.getByText('More details');
		const reason = this.failure.getByText(message, { exact: true });
		await more.or(reason).first().waitFor();
		if (await more.isVisible()) await more.click();
		await reason.waitFor();
		return await reason.innerText();
	}

	/** @returns what n8n says of its test */
	private async save(): Promise<{ message: string }> {
		const tested = this.page.waitForResponse('**/rest/credentials/test');
		const button = this.page.getByTestId('credential-save-button');
		await button.click();
		const { data } = (await (await tested).json()) as { data: { message: string } };
		// What is typed while the button still says "Saving" or "Testing" is no change to n8n, and can't be saved.
		await button.filter({ hasText: /^\s*Saved?\s*$/ }).waitFor();
		return data;
	}
}
