import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { installIfNeeded } from '../../host/install';
import { findRuntime } from '../../host/runtime';
import { Steps } from '../../host/steps';
import type { Case } from '../case';
import { contenderNames, needsN8n } from '../contenders/names';
import { number } from '../../sandbox/number';
import { tableOf, type ColumnTitle } from '../report/columns';
import { writeBetweenMarks } from '../report/document';
import { measuredOn } from '../report/machine';
import { ROOT } from './childProcess';
import { measure, type Measured } from './runner';

const HOST = join(ROOT, 'host');
const PAGE = join(ROOT, 'docs', 'performance.md');

/** A command that measures cases. */
export interface Bench {
	/** The command that users type, such as `npm run bench`. */
	command: string;
	/** A sentence for `--help` that says what the command measures, and how long this takes. */
	about: string;
	cases: Case[];
	columns: ColumnTitle[];
	/** Returns the short table for docs/performance.md. */
	summaryOf: (measured: Measured[]) => Promise<string>;
}

/** Measures the cases that the command line selects, and prints their tables. With `--write`, updates the page. */
export async function runBench({ command, about, cases, columns, summaryOf }: Bench) {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			only: { type: 'string', multiple: true, default: [] },
			rounds: { type: 'string' },
			write: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	const help = `${about}

  ${command}                      measures all cases
  ${command} -- NAME …            only these cases: ${cases.map(({ name }) => name).join(', ')}
  ${command} -- --only NAME       only this contender (may be repeated): ${contenderNames.join(', ')}
  ${command} -- --rounds N        the number of rounds of each case
  ${command} -- --write           also writes the short table into docs/performance.md
`;
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const known: string[] = [...cases.map(({ name }) => name), ...contenderNames];
	const unknown = [...positionals, ...values.only].filter((name) => !known.includes(name));
	if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}.\n\n${help}`);
	const [some, only] = [positionals.length > 0, values.only.length > 0];
	if (values.write && (some || only)) throw new Error('--write needs all cases and all contenders');
	const chosen = cases
		.filter(({ name }) => !some || positionals.includes(name))
		.map((of) => ({
			...of,
			rounds: number(values.rounds ?? `${of.rounds}`, { least: 1, whole: true }),
			contenders: of.contenders.filter((name) => !only || values.only.includes(name)),
		}))
		.filter(({ contenders }) => contenders.length > 0);

	const measured = await measureAll(chosen, columns);
	const machine = await measuredOn(HOST);
	process.stdout.write(`\n${machine}\n\n${await tableOf(columns, measured)}\n`);
	if (!values.write) return;
	await writeBetweenMarks(PAGE, command, `${machine}\n\n${await summaryOf(measured)}`);
}

async function measureAll(cases: Case[], columns: ColumnTitle[]): Promise<Measured[]> {
	const withN8n = cases.some(({ contenders }) => contenders.some(needsN8n));
	const steps = new Steps(cases.length + (withN8n ? 2 : 1));
	await steps.run('Building the package', async () => {
		const shell = process.platform === 'win32';
		await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT, shell });
	});
	if (withN8n) {
		await installIfNeeded({ hostFolder: HOST, logFile: join(HOST, '.data', 'bench.log') }, steps);
	}
	const { node } = withN8n ? await findRuntime(HOST) : { node: process.execPath };
	const measured: Measured[] = [];
	for (const of of cases) {
		const one = await steps.run(of.title, async (say) => await measure(of, node, say));
		process.stdout.write(`${await tableOf(columns, [one])}\n`);
		measured.push(one);
	}
	return measured;
}
