/** A cell: its text, or nothing where there is no figure. */
export type Cell = string | undefined;

/** A table in Markdown, its columns aligned so that it reads well in a terminal too; numbers stand right. */
export function table(heading: string[], rows: Cell[][]): string {
	const cells = rows.map((row) => heading.map((_, column) => row[column] ?? '–'));
	const widths = heading.map((title, column) =>
		Math.max(title.length, 3, ...cells.map((row) => row[column]?.length ?? 0)),
	);
	const line = (row: string[]) =>
		`| ${row.map((text, column) => pad(text, widths[column] ?? 0, column)).join(' | ')} |`;
	const rule = widths.map((width, column) =>
		column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
	);
	return [line(heading), line(rule), ...cells.map(line)].join('\n');
}

function pad(text: string, width: number, column: number): string {
	return column === 0 ? text.padEnd(width) : text.padStart(width);
}
