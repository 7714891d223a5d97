import { inspect } from 'node:util';

import { Container } from '@n8n/di';
import { ErrorReporter } from 'n8n-core';
import type { INodeParameters, Logger, OnError } from 'n8n-workflow';
import { jsonStringify, LoggerProxy } from 'n8n-workflow';

import { numbered, useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';
import type { Result } from '../support/run';
import { PASSWORD, spellingsOf } from './spellings';
import { everyText } from './everyText';

/*
 * Searches everything that a run leaves behind for the password and the tokens: the output, the error with its causes,
 * n8n's log, and the stored execution.
 */

/** What a run has left behind. */
export interface Traces {
	/** The texts, by the place where they were found. */
	texts: Map<string, string>;
	/** The tokens that were sent or stored. */
	tokens: string[];
	failed: boolean;
}

/** The parameters of one operation for each call of the service. */
export const operations = oneOfEachCall.map(({ parameters }) =>
	parameters({ options: { maxRetries: 0 } }),
);

const levels = ['error', 'warn', 'info', 'debug'] as const;

/** Gives each test of a file a sandbox with this password, and returns functions that search what runs leave behind. */
export function useTraces() {
	const fixture = useSandbox({ password: PASSWORD });
	/** The functions that control the time limits of requests; the waits of the node are skipped. */
	const limits = {} as Limits;
	/** What n8n logs at any level, and what is printed directly. */
	let logged: unknown[];
	let printed: string[];

	beforeEach(() => {
		Object.assign(limits, hurry());
		logged = [];
		printed = [];
		// n8n creates its own logger together with this object.
		const { logger } = Container.get(ErrorReporter) as unknown as { logger: Logger };
		const print = (...texts: unknown[]) => printed.push(inspect(texts, { depth: 10 })) > 0;
		for (const level of levels) {
			for (const log of [LoggerProxy, logger]) {
				jest.spyOn(log, level).mockImplementation((...said) => void logged.push(said));
			}
			jest.spyOn(console, level).mockImplementation(print);
		}
		for (const stream of [process.stdout, process.stderr]) {
			jest.spyOn(stream, 'write').mockImplementation(print);
		}
		jest.spyOn(console, 'log').mockImplementation(print);
	});

	/** Runs something, and returns everything that it has left behind. */
	async function leftBy(run: () => Promise<Result>): Promise<Traces> {
		logged.length = 0;
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		const result = await run();
		// The errors of the node itself, before n8n wraps them.
		const ends = await Promise.allSettled(execute.mock.results.map(({ value }): unknown => value));
		execute.mockRestore();
		const thrown: unknown[] = ends.flatMap((end) =>
			end.status === 'rejected' ? [end.reason] : [],
		);
		forgetKeptAnswers(result);

		const texts = new Map([
			['the output', [...everyText(result.items)].join('\n')],
			['the error of the node', [...everyText(thrown)].join('\n')],
			['the error as it is printed', inspect(thrown, { depth: 10, showHidden: true })],
			['the run', [...everyText(result.run)].join('\n')],
			['the stored execution', jsonStringify(result.run.data, { replaceCircularRefs: true })],
			["n8n's log", [...everyText(logged)].join('\n')],
			['the console', printed.join('\n')],
		]);
		const { storedToken } = fixture.engine;
		const sent = fixture.sandbox.calls.flatMap(({ token }) => token ?? []);
		const tokens = [...new Set([storedToken, ...sent])].filter((token) => token !== '');
		const failed = thrown.length > 0 || result.items.some(({ json }) => 'error' in json);
		return { texts, tokens, failed };
	}

	/** Runs the node with two items, and returns everything that it has left behind. */
	async function leftByNode(
		parameters: INodeParameters,
		onError: OnError = 'stopWorkflow',
	): Promise<Traces> {
		return await leftBy(async () => await fixture.engine.run({ parameters, onError }, numbered(2)));
	}

	/** Runs the node, and expects that it fails and leaves no secret behind. Returns what it has left behind. */
	async function expectNoLeak(parameters: INodeParameters, onError?: OnError): Promise<Traces> {
		const traces = await leftByNode(parameters, onError);
		expect(traces.failed).toBe(true);
		expectNoSecretIn(traces);
		return traces;
	}

	return Object.assign(fixture, { limits, leftBy, leftByNode, expectNoLeak });
}

/**
 * Removes the data that a failed run stores for n8n's Retry. They are unchanged responses of the service and contain no
 * text of the node.
 */
function forgetKeptAnswers({ run }: Result): void {
	for (const { data } of run.data.executionData?.nodeExecutionStack ?? []) {
		delete data.jobOrchestration;
	}
}

/**
 * Expects that no text contains the password or a token. If the run has sent no token, this proves nothing about
 * tokens.
 */
export function expectNoSecretIn({ texts, tokens }: Traces): void {
	expect(placesOf([PASSWORD, ...tokens], texts)).toEqual([]);
}

/** Returns each place where a secret is found, and its spelling there. */
export function placesOf(secrets: string[], texts: Map<string, string>): string[] {
	return [...texts].flatMap(([place, text]) =>
		secrets
			.flatMap(spellingsOf)
			.filter((form) => text.includes(form))
			.map((form) => `${form} in ${place}`),
	);
}
