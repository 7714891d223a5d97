import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { writeBetweenMarks } from './report/document';
import { draw } from './report/plot';
import type { Figures } from './scaling/figures';
import { measure } from './scaling/measure';
import { measuredOf, neededOf, plotOf } from './scaling/report';

const help = `Measures an n8n in queue mode on this machine, with one worker, two and four, and works out what
more would hold. Needs Debian's Redis and PostgreSQL. Nothing else should run meanwhile.

  npm run scaling               about seven minutes; writes its figures, docs/scaling.md with its
                                plot, and bench/results.md
  npm run scaling -- --redraw   writes them from the figures of the last run
`;

const docs = join(__dirname, '..', 'docs');
const FIGURES = join(__dirname, 'figures', 'scaling.json');

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			redraw: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	if (!values.redraw) {
		const loads = [
			{ jobsEach: 1, executions: 200 },
			{ jobsEach: 100, executions: 20 },
		];
		const figures = await measure(loads, (text) => process.stdout.write(`${text}\n`));
		await writeFile(FIGURES, `${JSON.stringify(figures, threeDigits)}\n`);
	}
	const figures = JSON.parse(await readFile(FIGURES, 'utf8')) as Figures;
	const [measured, needed] = [measuredOf(figures), neededOf(figures)];
	process.stdout.write(`\n${measured}\n\n${needed}\n`);
	await writeFile(join(docs, 'images', 'scaling.svg'), await draw(plotOf(figures)));
	await writeBetweenMarks(join(docs, 'scaling.md'), 'npm run scaling', needed);
	await writeBetweenMarks(join(__dirname, 'results.md'), 'npm run scaling', measured);
}

/** More digits after the point than three the measurement doesn't know. */
function threeDigits(_key: string, value: unknown): unknown {
	return typeof value === 'number' ? Math.round(1000 * value) / 1000 : value;
}

main().catch((error: unknown) => {
	process.stderr.write(
		`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
	);
	process.exitCode = 1;
});
