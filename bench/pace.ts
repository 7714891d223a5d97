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
import { contenders, isOwn } from './pace/contenderNames';
import { startNginx } from './pace/nginx';
import type { Batch } from './pace/plot';
import { plotPace } from './pace/plot';
import type { Service } from './pace/services';
import { services } from './pace/services';
import { ask, ROOT, startProcess } from './performance/childProcess';
import { spreadOf } from './performance/figures';
import { number, withSpread } from './performance/report/format';
import { Sandboxes } from './performance/sandbox/sandboxes';
import { writeBetweenMarks } from './report/document';
import type { Cell } from './report/table';
import { table } from './report/table';

const help = `Measures how this node finds the pace of a service, beside what n8n has for it.

  npm run bench:pace                       all services: about half an hour
  npm run bench:pace -- 50ms 300ms         some of them: ${services.map(({ name }) => name).join(', ')}
  npm run bench:pace -- --only thisNode    one of the ways only (repeatable): ${Object.keys(contenders).join(', ')};
                                           the first two need no n8n
  npm run bench:pace -- --rounds 5         so often, in turn; 3 unless told otherwise where less than 5 s are possible, else 1
  npm run bench:pace -- --write            writes bench/results.md and docs/images/pace.svg, too
`;

const HOST = join(ROOT, 'host');
const PAGE = join(ROOT, 'bench', 'results.md');
const PLOT = join(ROOT, 'docs', 'images', 'pace.svg');

/** After so many seconds a measurement says how far it has come; and what else its process may take. */
const MOST_SECONDS = 120;
const WARM_UP_SECONDS = 60;

/** Milliseconds at best, up to which a measurement is done three times. */
const SHORT = 5_000;

type Measured = Partial<Record<ContenderName, Answer[]>>;

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
	const chosen = services
		.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
		.map((service) => {
			const names: ContenderName[] = ['thisNode', ...service.beside];
			const { only } = values;
			return {
				service,
				wanted: names.filter((name) => only.length === 0 || only.includes(name)),
			};
		})
		.filter(({ wanted }) => wanted.length > 0);
	const needsN8n = chosen.some(({ wanted }) => !wanted.every(isOwn));

	const steps = new Steps(chosen.length + (needsN8n ? 2 : 1));
	await steps.run('Building the package', async () => {
		await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT });
	});
	if (needsN8n) {
		await installIfNeeded({ hostFolder: HOST, logFile: join(HOST, '.data', 'bench.log') }, steps);
	}
	const { node } = needsN8n ? await findRuntime(HOST) : { node: process.execPath };
	const sandboxes = new Sandboxes(node);
	const rows: Cell[][] = [];
	const batches: Batch[] = [];
	try {
		for (const { service, wanted } of chosen) {
			let ofService: Cell[][];
			try {
				const measured = await steps.run(service.title, async (say) => {
					const rounds = Number(values.rounds ?? ((service.best ?? SHORT) < SHORT ? 3 : 1));
					return await measure(service, wanted, { rounds, say, node, sandboxes });
				});
				ofService = rowsOf(service, measured);
				// The picture shows what is to be found out.
				if (service.beside.includes('httpRequestInBatches') || service.away !== undefined) {
					batches.push(...batchesOf(service, measured));
				}
			} catch (error) {
				ofService = [[`_${service.title}_: ${String(error)}`]];
			}
			process.stdout.write(`${table(HEADING, ofService)}\n`);
			rows.push(...ofService);
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
	const { options, away, plan, nginx } = service;
	const measured: Measured = {};
	for (let round = 1; round <= rounds; round += 1) {
		for (const contender of names) {
			say(`round ${round} of ${rounds}, ${contender}`);
			const opened = await sandboxes.open({ options, away, plan });
			const front = nginx && (await startNginx(opened.measured.url, nginx));
			if (front !== undefined) opened.measured.url = front.url;
			try {
				const child = startProcess('../pace/client.ts', node);
				const request = { contender, service: service.name, mostSeconds: MOST_SECONDS, ...opened };
				const answer = await ask<Answer>(child, request, MOST_SECONDS + WARM_UP_SECONDS);
				(measured[contender] ??= []).push(answer);
			} finally {
				await front?.stop();
				await sandboxes.close();
			}
		}
	}
	return measured;
}

/** What became of the jobs, for the picture: of the first round. */
function batchesOf({ title, count }: Service, measured: Measured): Batch[] {
	return Object.entries(measured).flatMap(([name, [sample]]): Batch[] => {
		if (sample?.failed === undefined) return [];
		const mayExist = isOwn(name as ContenderName) ? (sample.mayExist ?? 0) : 0;
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
	'at once at most',
	'others made',
	'loop delay p99 ms',
];

function rowsOf(service: Service, measured: Measured): Cell[][] {
	const { title, best } = service;
	const own = measured.thisNode?.map(({ elapsed }) => elapsed);
	const rows = Object.entries(measured).map(([name, samples]): Cell[] => {
		const elapsed = samples.map((sample) => sample.elapsed);
		const speedup = own && spreadOf(elapsed).median / spreadOf(own).median;
		const hasEnded = samples.every(({ failed }) => failed !== undefined);
		const isWhole = samples.every(({ failed }) => failed === 0);
		const column = (figure: (sample: Answer) => number | undefined) => {
			const figures = samples.map(figure).filter((value) => value !== undefined);
			return figures.length === 0 ? undefined : withSpread(figures);
		};
		const isOwnNode = isOwn(name as ContenderName);
		return [
			contenders[name as ContenderName],
			`${hasEnded ? '' : '> '}${withSpread(elapsed.map((ms) => ms / 1_000))}`,
			best === undefined || best === 0 || !hasEnded || (!isWhole && !isOwnNode)
				? undefined
				: withSpread(elapsed.map((ms) => ms / best)),
			name === 'thisNode' || speedup === undefined || !isWhole
				? ''
				: `${number(speedup)} × as fast`,
			column(({ failed }) => failed),
			isOwnNode ? column(({ mayExist }) => mayExist) : undefined,
			column(({ turnedAway }) => turnedAway),
			column(({ atOnce }) => atOnce),
			service.namespaceOf &&
				`${column(({ made }) => made)} of ${othersOf(service)} in ${column(({ lastMade }) => lastMade / 1_000)} s`,
			column(({ delayP99 }) => delayP99),
		];
	});
	return [[`_${title}_`, ...new Array<string>(HEADING.length - 1).fill('')], ...rows];
}

/** How many jobs are in the default namespace. */
function othersOf({ count, executions = 1, namespaceOf }: Service): number {
	const namespaces = Array.from({ length: count * executions }, (_, index) =>
		namespaceOf?.(index % count, Math.floor(index / count)),
	);
	return namespaces.filter((namespace) => namespace === 'default').length;
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
});
