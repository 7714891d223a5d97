/** The text of a cell; undefined if there is no value, for which the table shows a dash. */
export type Cell = string | undefined;

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
