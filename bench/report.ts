import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

import { pinnedVersion } from '../host/install';
import { titles, type Case, type ContenderName } from './case';
import type { Sample } from './client';
import { ROOT, type Measured } from './runner';

/** For each column, a function that returns the value of a sample; undefined if the case has no such value. */
const figures = {
	seconds: ({ elapsedMs }) => elapsedMs / 1_000,
	'× at best': ({ elapsedMs }, { bestMs }) => bestMs && elapsedMs / bestMs,
	'a second': ({ elapsedMs }, { task }) => (1_000 * task.count) / elapsedMs,
	failed: ({ failed }) => failed,
	'may exist': ({ mayExist }) => mayExist,
	'at once at most': ({ atOnce }) => atOnce,
	'processor ms each': ({ cpuMs }, { task }) => cpuMs / task.count,
	'loop delay p99 ms': ({ delayP99Ms }) => delayP99Ms,
	'longest ms': ({ longestDelayMs }) => longestDelayMs,
} satisfies Record<string, (sample: Sample, of: Case) => number | undefined>;

export type Column = keyof typeof figures;

/** The text of a cell; undefined if there is no value, for which the table shows a dash. */
export type Cell = string | undefined;

/** Returns the median and the range of a column for a contender in a case; undefined if it has no values. */
export function cellOf(one: Measured | undefined, name: ContenderName, column: Column): Cell {
	const values = one?.samples[name]?.map((sample) => figures[column](sample, one.of)) ?? [];
	const known = values.filter((value) => value !== undefined);
	return known.length === 0 ? undefined : withSpread(known);
}

/** Returns a table in Markdown with all columns, and a row for each contender of a case. */
export async function tableOf(one: Measured): Promise<string> {
	const columns = Object.keys(figures) as Column[];
	const rows = one.of.contenders.map((name) => [
		titles[name],
		...columns.map((column) => cellOf(one, name, column)),
	]);
	return await table([one.of.title, ...columns], rows);
}

/**
 * Returns a table in Markdown. Its columns are padded, so that it is also readable in a terminal. All columns except
 * the first are right-aligned.
 */
export async function table(heading: string[], rows: Cell[][]): Promise<string> {
	const { markdownTable } = await import('markdown-table');
	const cells = rows.map((row) => heading.map((_, column) => row[column] ?? '–'));
	const [, ...numbers] = heading.map(() => 'right');
	return markdownTable([heading, ...cells], { align: [null, ...numbers] });
}

/** Formats the median, followed by the lowest and the highest value in parentheses if they differ. */
function withSpread(values: number[]): string {
	const sorted = values.toSorted((a, b) => a - b);
	const half = (sorted.length - 1) / 2;
	const median = ((sorted[Math.floor(half)] ?? NaN) + (sorted[Math.ceil(half)] ?? NaN)) / 2;
	const [low, high] = [sorted[0] ?? NaN, sorted.at(-1) ?? NaN].map(number);
	return low === high ? number(median) : `${number(median)} (${low}–${high})`;
}

/** Formats a number with the useful number of digits: 1,930, 47, 9.3 or 0.55. */
function number(value: number): string {
	const digits = Math.abs(value) >= 20 ? 0 : Math.abs(value) >= 2 ? 1 : 2;
	return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** Returns a sentence with the date, the version of n8n, the processors and the memory of this machine. */
export async function measuredOn(): Promise<string> {
	const n8n = await pinnedVersion(join(ROOT, 'host'));
	const processor = `${cpus().length} × ${cpus()[0]?.model ?? '?'}`;
	const date = new Date().toISOString().slice(0, 10);
	return `Measured on ${date} with n8n ${n8n}, ${processor}, ${Math.round(totalmem() / 1e9)} GB.`;
}

/**
 * Replaces the text between the two marks of a command in docs/performance.md. The rest of the page is written by hand.
 * @throws Error if the page doesn't contain these marks
 */
export async function writePage(command: string, written: string): Promise<void> {
	const page = join(ROOT, 'docs', 'performance.md');
	const begin = `<!-- what follows is written by ${command} -->`;
	const end = `<!-- what precedes is written by ${command} -->`;
	const text = await readFile(page, 'utf8');
	const [from, to] = [text.indexOf(begin), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`${page} has no place for the figures: ${begin}`);
	await writeFile(page, `${text.slice(0, from)}${begin}\n\n${written}\n\n${text.slice(to)}`);
}
