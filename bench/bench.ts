import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { installIfNeeded } from '../host/install';
import { findRuntime } from '../host/runtime';
import { step } from '../host/step';
import { number } from '../sandbox/number';
import type { Case } from './case';
import { measuredOn, tableOf, writePage } from './report';
import { measureCase, ROOT, type Measured } from './runner';

/** A command that measures cases. */
export interface Bench {
	/** The command that users type, such as `npm run bench`. */
	command: string;
	/** A sentence for `--help` that says what the command measures, and how long this takes. */
	about: string;
	cases: Case[];
	/** Returns what docs/performance.md shows. */
	summaryOf: (measured: Measured[]) => Promise<string>;
}

/** Measures the cases that the command line selects, and prints their tables. With `--write`, updates the page. */
export async function runBench({ command, about, cases, summaryOf }: Bench): Promise<void> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			rounds: { type: 'string' },
			write: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	const names = cases.map(({ name }) => name);
	const help = `${about}

  ${command}                   measures all cases
  ${command} -- NAME …         only these cases: ${names.join(', ')}
  ${command} -- --rounds N     the number of rounds of each case
  ${command} -- --write        also writes the short table into docs/performance.md
`;
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const unknown = positionals.filter((name) => !names.includes(name));
	if (unknown.length > 0) throw new Error(`There is no case ${unknown.join(', ')}.\n\n${help}`);
	const areAll = positionals.length === 0;
	if (values.write && !areAll) throw new Error('--write needs all cases');
	const chosen = cases
		.filter(({ name }) => areAll || positionals.includes(name))
		.map((of) => ({
			...of,
			rounds: number(values.rounds ?? `${of.rounds}`, { least: 1, whole: true }),
		}));

	const measured = await measureAll(chosen);
	const summary = `${await measuredOn()}\n\n${await summaryOf(measured)}`;
	process.stdout.write(`\n${summary}\n`);
	if (values.write) await writePage(command, summary);
}

async function measureAll(cases: Case[]): Promise<Measured[]> {
	const hostFolder = join(ROOT, 'host');
	await step('Building the package', async () => {
		const shell = process.platform === 'win32';
		await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT, shell });
	});
	// n8n's own nodes are contenders, and all contenders run on n8n's Node.js.
	await installIfNeeded(hostFolder);
	const { node } = await findRuntime(hostFolder);
	const measured: Measured[] = [];
	for (const of of cases) {
		const one = await step(of.title, async () => await measureCase(of, node));
		process.stdout.write(`${await tableOf(one)}\n`);
		measured.push(one);
	}
	return measured;
}
