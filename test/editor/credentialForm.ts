import type { Locator, Page } from 'playwright-core';

/** The entries in the form of a credential. */
export interface Entries {
	baseUrl: string;
	userName: string;
	password: string;
}

export class CredentialForm {
	/** The window that contains the form. */
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

	/** Opens an empty form, as the button Create Credential does. It finds the type by its name. */
	async openNew(type: string): Promise<void> {
		await this.page.goto('/home/credentials/create');
		const search = this.page.getByTestId('new-credential-type-select').locator('input');
		await search.fill(type);
		// n8n 1.x hides the types that don't match.
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

	/** Saves the credential, which makes n8n test it, and waits until the form shows that the test has succeeded. */
	async saveAndSucceed(): Promise<void> {
		await this.save();
		await this.success.getByText('Connection tested successfully').waitFor();
	}

	/**
	 * Saves the credential, which makes n8n test it, and waits until the form shows that the test has failed.
	 *
	 * @returns the reason that the form shows below More Details
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

	/** @returns n8n's message about the test */
	private async save(): Promise<{ message: string }> {
		const tested = this.page.waitForResponse('**/rest/credentials/test');
		const button = this.page.getByTestId('credential-save-button');
		await button.click();
		const { data } = (await (await tested).json()) as { data: { message: string } };
		// n8n ignores changes while the button still says "Saving" or "Testing", and they can't be saved.
		await button.filter({ hasText: /^\s*Saved?\s*$/ }).waitFor();
		return data;
	}
}
