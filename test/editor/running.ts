import type { Owner } from '../../host/api';

/** What all test files share: the n8n and the browser that `setUp.ts` has started. */
export interface Running {
	n8nUrl: string;
	owner: Owner;
	/** Where the browser is connected to. */
	browser: string;
	/** Where what a test leaves behind when it fails is put. */
	failures: string;
	/** Where the pictures for the docs are put. */
	images: string;
}

/** By the environment, the only thing that Jest hands on from its set-up to the test files. */
const variable = 'BROWSER_TESTS_RUNNING';

export function hand(running: Running): void {
	process.env[variable] = JSON.stringify(running);
}

export function handed(): Running {
	const text = process.env[variable];
	if (text === undefined) throw new Error('Run these tests by test/editor/jest.config.js');
	return JSON.parse(text) as Running;
}
