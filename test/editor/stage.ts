import { join } from 'node:path';

import { selectors, type BrowserContext, type Page } from 'playwright-core';

import { N8nApi, type WorkflowNode } from '../../host/api';
import { sandboxCredential } from '../../host/credential';
import type { SandboxOptions } from '../../sandbox';
import { useHost, type HostUnderTest } from '../host/host';
import { running } from '../host/setUp';
import { createNode } from '../host/workflows';
import { openChromium } from './chromium';
import { Editor } from './editor';

/** What a test uses: its own page, and the n8n and the sandbox that it shares with the other tests of its file. */
export interface Stage extends Pick<HostUnderTest, 'api' | 'sandbox'> {
	page: Page;
	editor: Editor;
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
	beforeAll(async () => await deleteCredentials(await N8nApi.open(url, owner)));
	const host = useHost(sandboxCredential.name, options);
	beforeAll(async () => {
		selectors.setTestIdAttribute('data-test-id');
		context = await openChromium(join(dataFolder, 'chromium'), url);
		context.setDefaultTimeout(patience);
		const { email, password } = owner;
		await context.request.post('/rest/login', { data: { emailOrLdapLoginId: email, password } });
	});
	afterAll(async () => await context.close());

	return (name, play) => {
		it(name, async () => {
			const page = await context.newPage();
			try {
				await play({ api: host.api, sandbox: host.sandbox, page, editor: new Editor(page) });
			} catch (error) {
				const file = `${name.replace(/\W+/g, '-').slice(0, 60)}.png`;
				const picture = join(dataFolder, 'failures', file);
				await page.screenshot({ path: picture });
				if (error instanceof Error) error.message += `\nThe page then: ${picture}`;
				throw error;
			} finally {
				await page.close();
			}
		});
	};
}

/** Deletes the credentials of earlier tests. n8n only chooses a credential by itself if there is no other. */
async function deleteCredentials(api: N8nApi): Promise<void> {
	for (const { id } of await api.call<Array<{ id: string }>>('GET', '/rest/credentials')) {
		await api.call('DELETE', `/rest/credentials/${id}`);
	}
}

/** Returns the node that creates a job in the pictures. */
export const createJob = (displayName: string, parameters: WorkflowNode['parameters'] = {}) =>
	createNode(displayName, { workflowUid: 'report', ...parameters }, { name: 'Create job' });
