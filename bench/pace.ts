import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { installIfNeeded, pinnedVersion } from '../host/install';
import { findRuntime } from '../host/runtime';
import { Steps } from '../host/steps';
import type { Answer } from './pace/client';
import type { ContenderName } from './pace/contenderNames';
import { contenders } from './pace/contenderNames';
import type { Batch } from './pace/plot';
import { plotPace } from './pace/plot';
import type { Service } from './pace/services';
import { services } from './pace/services';
import { ask, ROOT, startProcess } from './performance/childProcess';
import { spreadOf } from './performance/figures';
import { number, withSpread } from './performance/report/format';
import type { Seen } from './performance/sandbox/messages';
import { Sandboxes } from './performance/sandbox/sandboxes';
import { writeBetweenMarks } from './report/document';
import type { Cell } from './report/table';
import { table } from './report/table';

const help = `Measures how this node finds the pace of a service, beside what n8n has for it.

  npm run bench:pace                       all services: about fifteen minutes
  npm run bench:pace -- 50ms 300ms         some of them: ${services.map(({ name }) => name).join(', ')}
  npm run bench:pace -- --only thisNode    one of the ways only (repeatable): ${Object.keys(contenders).join(', ')}
  npm run bench:pace -- --rounds 5         so often, in turn; 3 unless told otherwise where it takes less than 5 s, else 1
  npm run bench:pace -- --write            writes bench/results.md and docs/images/pace.svg, too
`;

const HOST = join(ROOT, 'host');
const PAGE = join(ROOT, 'bench', 'results.md');
const PLOT = join(ROOT, 'docs', 'images', 'pace.svg');

/** The most seconds that one measurement may take. */
const MOST_SECONDS = 300;

/** Milliseconds at best, up to which a measurement is done three times. */
const SHORT = 5_000;

type Sample = Answer & Seen;
type Measured = Partial<Record<ContenderName, Sample[]>>;

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			only: { type: 'string', multiple: true, default: [] },
			rounds: { type: 'string' },
			write: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const unknown = positionals.filter((name) => !services.some((service) => service.name === name));
	if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}.\n\n${help}`);
	const chosen = services.filter(
		({ name }) => positionals.length === 0 || positionals.includes(name),
	);

	const steps = new Steps(chosen.length + 2);
	await steps.run('Building the package', async () => {
		await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT });
	});
	await installIfNeeded({ hostFolder: HOST, logFile: join(HOST, '.data', 'bench.log') }, steps);
	const { node } = await findRuntime(HOST);
	const sandboxes = new Sandboxes(node);
	const rows: Cell[][] = [];
	const batches: Batch[] = [];
	try {
		for (const service of chosen) {
			const measured = await steps.run(service.title, async (say) => {
				const names: ContenderName[] = ['thisNode', ...service.beside];
				const wanted = names.filter(
					(name) => values.only.length === 0 || values.only.includes(name),
				);
				const rounds = Number(values.rounds ?? ((service.best ?? 0) < SHORT ? 3 : 1));
				return await measure(service, wanted, { rounds, say, node, sandboxes });
			});
			const ofService = rowsOf(service, measured);
			process.stdout.write(`${table(HEADING, ofService)}\n`);
			rows.push(...ofService);
			// The picture shows what is to be found out.
			if (service.batching !== undefined || service.away !== undefined) {
				batches.push(...batchesOf(service, measured));
			}
		}
	} finally {
		sandboxes.stop();
	}
	const text = [
		`Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${await pinnedVersion(HOST)}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 1e9)} GB.`,
		table(HEADING, rows),
	].join('\n\n');
	process.stdout.write(`\n${text}\n`);
	if (!values.write) return;
	await writeBetweenMarks(PAGE, 'npm run bench:pace', text);
	await writeFile(PLOT, await plotPace(batches));
}

/** Each contender in a process of its own, at a service of its own, in turn. */
async function measure(
	service: Service,
	names: ContenderName[],
	{
		rounds,
		say,
		node,
		sandboxes,
	}: { rounds: number; say: (text: string) => void; node: string; sandboxes: Sandboxes },
): Promise<Measured> {
	const { count, executions, batching, loop, options, away } = service;
	const measured: Measured = {};
	for (let round = 1; round <= rounds; round += 1) {
		for (const contender of names) {
			say(`round ${round} of ${rounds}, ${contender}`);
			const opened = await sandboxes.open({ options, away });
			const task = { count, executions, batching, loop };
			const child = startProcess('../pace/client.ts', node);
			const answer = await ask<Answer>(child, { contender, task, ...opened }, MOST_SECONDS);
			(measured[contender] ??= []).push({ ...answer, ...(await sandboxes.close()) });
		}
	}
	return measured;
}

/** What became of the jobs, for the picture: of the first round. */
function batchesOf({ title, count }: Service, measured: Measured): Batch[] {
	return Object.entries(measured).flatMap(([name, [sample]]): Batch[] => {
		if (sample === undefined) return [];
		const mayExist = name === 'thisNode' || name === 'tenAtOnce' ? sample.mayExist : 0;
		return [
			{
				service: title.replaceAll('`', ''),
				contender: contenders[name as ContenderName].replaceAll('*', ''),
				made: count - sample.failed,
				mayExist,
				failed: sample.failed - mayExist,
				seconds: sample.elapsed / 1_000,
			},
		];
	});
}

const HEADING = [
	'The service',
	'seconds',
	'× at best',
	'this node is',
	'failed',
	'may exist',
	'turned away',
	'waiting there',
	'at once at most',
	'loop delay p99 ms',
];

function rowsOf({ title, best }: Service, measured: Measured): Cell[][] {
	const own = measured.thisNode?.map(({ elapsed }) => elapsed);
	const rows = Object.entries(measured).map(([name, samples]): Cell[] => {
		const elapsed = samples.map((sample) => sample.elapsed);
		const speedup = own && spreadOf(elapsed).median / spreadOf(own).median;
		const isWhole = samples.every(({ failed }) => failed === 0);
		const column = (figure: (sample: Sample) => number) => withSpread(samples.map(figure));
		const isOwn = name === 'thisNode' || name === 'tenAtOnce';
		return [
			contenders[name as ContenderName],
			withSpread(elapsed.map((ms) => ms / 1_000)),
			best === undefined || best === 0 || (!isWhole && !isOwn)
				? undefined
				: withSpread(elapsed.map((ms) => ms / best)),
			name === 'thisNode' || speedup === undefined || !isWhole
				? ''
				: `${number(speedup)} × as fast`,
			column(({ failed }) => failed),
			isOwn ? column(({ mayExist }) => mayExist) : undefined,
			column(({ turnedAway }) => turnedAway),
			column(({ averageWaiting }) => averageWaiting),
			column(({ requestsAtOnce }) => requestsAtOnce),
			column(({ delayP99 }) => delayP99),
		];
	});
	return [[`_${title}_`, ...new Array<string>(HEADING.length - 1).fill('')], ...rows];
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
});
