import { join } from 'node:path';

import { selectors, type BrowserContext, type Page } from 'playwright-core';

import { N8nApi } from '../../host/api';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { running } from '../host/setUp';
import { openChromium } from './chromium';
import { Editor } from './editor';

/** What a test uses: its own page, and the n8n and the sandbox that it shares with the other tests of its file. */
export interface Stage {
	page: Page;
	editor: Editor;
	api: N8nApi;
	sandbox: Sandbox;
	/** Registers a function that is called at the end of the test, even if the test fails. */
	atEnd(end: () => Promise<void>): void;
}

/** Declares a test, as `it` does. */
export type StageTest = (name: string, play: (stage: Stage) => Promise<void>) => void;

/** How long an element may take to appear, in milliseconds. */
const patience = 30_000;

/**
 * Gives the tests of a file a sandbox and a credential for it in n8n. Each test gets its own page in the browser, and
 * is logged in.
 *
 * @returns a function that declares a test, as `it` does; if the test fails, it takes a picture of the page
 */
export function useStage(options: SandboxOptions = {}): StageTest {
	const { url, owner, dataFolder } = running();
	let context: BrowserContext;
	let shared: Pick<Stage, 'api' | 'sandbox'> | undefined;

	beforeAll(async () => {
		selectors.setTestIdAttribute('data-test-id');
		context = await openChromium(join(dataFolder, 'chromium'), url);
		context.setDefaultTimeout(patience);
		const { email, password } = owner;
		await context.request.post('/rest/login', { data: { emailOrLdapLoginId: email, password } });
		const api = await N8nApi.open(url, owner);
		const sandbox = await startSandbox(options);
		await api.useService(sandbox);
		shared = { api, sandbox };
	});
	afterAll(async () => {
		await context.close();
		await shared?.sandbox.close();
	});

	return (name, play) => {
		it(name, async () => {
			if (shared === undefined) throw new Error('The stage is not set');
			const page = await context.newPage();
			const ends = [async () => await page.close()];
			const atEnd: Stage['atEnd'] = (end) => void ends.push(end);
			shared.sandbox.clearCalls();
			shared.sandbox.faults.clear();
			try {
				await play({ ...shared, page, editor: new Editor(page), atEnd });
			} catch (error) {
				const picture = join(
					dataFolder,
					'failures',
					`${name.replace(/\W+/g, '-').slice(0, 60)}.png`,
				);
				await page.screenshot({ path: picture });
				if (error instanceof Error) error.message += `\nThe page then: ${picture}`;
				throw error;
			} finally {
				for (const end of ends.reverse()) await end();
			}
		});
	};
}
