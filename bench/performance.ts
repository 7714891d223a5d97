import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { ROOT } from './performance/childProcess';
import type { Figures, Measured } from './performance/figures';
import { measureAll } from './performance/measureAll';
import { fullPlan, quickPlan } from './performance/plan';
import { allTablesOf, summaryOf } from './performance/report/document';
import { tablesOf } from './performance/report/page';
import { plot } from './performance/report/plot';
import { writeBetweenMarks } from './report/document';

const help = `Measures this node against other ways to do the same, in n8n's engine.

  npm run bench                   about forty minutes; writes the figures into docs/performance.md,
                                  and all tables into bench/results.md
  npm run bench -- --continue     goes on with a run that was broken off
  npm run bench -- --quick        about three minutes; only shows what it found
  npm run bench -- --redraw       writes both from the figures of the last full run
`;

const FIGURES = join(ROOT, 'bench', 'figures', 'performance.json');
const PAGE = join(ROOT, 'docs', 'performance.md');
const TABLES = join(ROOT, 'bench', 'results.md');
const PLOT = join(ROOT, 'docs', 'images', 'performance.svg');
/** What a full run has measured so far. */
const SO_FAR = join(ROOT, 'host', '.data', 'bench.json');

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			continue: { type: 'boolean', default: false },
			quick: { type: 'boolean', default: false },
			redraw: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) process.stdout.write(help);
	else if (values.quick) {
		show(await measureAll(quickPlan, { measured: [], keep: async () => {} }));
	} else if (values.redraw) {
		await write(await readJson<Figures>(FIGURES));
	} else {
		const measured = values.continue ? await readJson<Measured[]>(SO_FAR) : [];
		const figures = await measureAll(fullPlan, { measured, keep });
		show(figures);
		await write(figures);
		await rm(SO_FAR, { force: true });
	}
}

function show(figures: Figures): void {
	process.stdout.write(`\n${tablesOf(figures)}\n`);
}

async function write(figures: Figures): Promise<void> {
	await writeJson(FIGURES, figures);
	await mkdir(dirname(PLOT), { recursive: true });
	await writeFile(PLOT, await plot(figures));
	await writeBetweenMarks(PAGE, 'npm run bench', summaryOf(figures));
	await writeBetweenMarks(TABLES, 'npm run bench', allTablesOf(figures));
}

async function keep(measured: Measured[]): Promise<void> {
	await writeJson(SO_FAR, measured);
}

async function readJson<Content>(path: string): Promise<Content> {
	return JSON.parse(await readFile(path, 'utf8')) as Content;
}

async function writeJson(path: string, content: unknown): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, `${JSON.stringify(content, rounded)}\n`);
}

/** Three digits after the point are more than the measurement knows. */
function rounded(_key: string, value: unknown): unknown {
	return typeof value === 'number' ? Math.round(1000 * value) / 1000 : value;
}

main().catch((error: unknown) => {
	process.stderr.write(
		`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
	);
	process.exitCode = 1;
});
