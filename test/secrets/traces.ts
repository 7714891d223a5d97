import { inspect } from 'node:util';

import { Container } from '@n8n/di';
import { ErrorReporter } from 'n8n-core';
import type { INodeParameters, Logger, OnError } from 'n8n-workflow';
import { jsonStringify, LoggerProxy } from 'n8n-workflow';

import { numbered, useSandbox } from '../support/fixture';
import { hurry, type Limits } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';
import type { Result } from '../support/run';
import { spellingsOf } from './spellings';
import { everyText } from './everyText';

/*
 * A search of everything that a run leaves, for the password and the tokens: the output, the error with its
 * causes, n8n's log, the execution as n8n stores it.
 */

/** A password that looks different in each encoding: in JSON, in an address, in HTML, in both kinds of base64. */
export const PASSWORD = 'pass"wörd /7&%<secret>\\~~~???>>>';

/** What a run has left. */
export interface Traces {
	/** By where they were found. */
	texts: Map<string, string>;
	/** The tokens that were sent or stored. */
	tokens: string[];
	failed: boolean;
}

/** An operation for each call of the service, with the parameters of a run. */
export const operations = oneOfEachCall.map(({ parameters }) =>
	parameters({ options: { maxRetries: 0 } }),
);

const levels = ['error', 'warn', 'info', 'debug'] as const;

/** A sandbox with this password for each test of a file, and the search of what is left by runs against it. */
export function useTraces() {
	const fixture = useSandbox({ password: PASSWORD });
	let limits: Limits;
	/** What n8n logs at any level, and what is printed without its log. */
	let logged: unknown[];
	let printed: string[];

	beforeEach(() => {
		limits = hurry();
		logged = [];
		printed = [];
		// n8n's own logger is made with it.
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

	/** Everything that is left by running something. */
	async function leftBy(run: () => Promise<Result>): Promise<Traces> {
		logged.length = 0;
		const execute = jest.spyOn(fixture.engine.loaded.node, 'execute');
		const result = await run();
		// What the node itself threw, before n8n made its own of it.
		const ends = await Promise.allSettled(
			execute.mock.results.map(({ value }) => value as unknown),
		);
		execute.mockRestore();
		const thrown = ends.flatMap((end) =>
			end.status === 'rejected' ? [end.reason as unknown] : [],
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

	/** Everything that is left by the node with these parameters. */
	async function leftByNode(
		parameters: INodeParameters,
		onError: OnError = 'stopWorkflow',
	): Promise<Traces> {
		return await leftBy(async () => await fixture.engine.run({ parameters, onError }, numbered(2)));
	}

	/** Runs the node, and expects that it fails and leaves no secret; gives what it has left. */
	async function expectNoLeak(parameters: INodeParameters, onError?: OnError): Promise<Traces> {
		const traces = await leftByNode(parameters, onError);
		expect(traces.failed).toBe(true);
		expectNoSecretIn(traces);
		return traces;
	}

	return {
		get sandbox() {
			return fixture.sandbox;
		},
		get engine() {
			return fixture.engine;
		},
		/** The time that the node waits goes by at once. */
		get limits() {
			return limits;
		},
		callsOf: fixture.callsOf,
		meets: fixture.meets,
		leftBy,
		leftByNode,
		expectNoLeak,
	};
}

/**
 * What a failed run keeps for n8n's Retry are the service's own answers, which are handed on as they came: no text
 * of this node's.
 */
function forgetKeptAnswers({ run }: Result): void {
	for (const { data } of run.data.executionData?.nodeExecutionStack ?? []) {
		delete data.jobOrchestration;
	}
}

/** Expects the password and the tokens nowhere. A run that sent no token proves nothing of it. */
export function expectNoSecretIn({ texts, tokens }: Traces): void {
	expect(placesOf([PASSWORD, ...tokens], texts)).toEqual([]);
}

/** Where secrets are found, and in which form. */
export function placesOf(secrets: string[], texts: Map<string, string>): string[] {
	return [...texts].flatMap(([place, text]) =>
		secrets
			.flatMap(spellingsOf)
			.filter((form) => text.includes(form))
			.map((form) => `${form} in ${place}`),
	);
}
