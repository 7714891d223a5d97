/** A cell: its text, or nothing where there is no figure. */
export type Cell = string | undefined;

/** A table in Markdown, its columns aligned so that it reads well in a terminal too; numbers stand right. */
export async function table(heading: string[], rows: Cell[][]): Promise<string> {
	const { markdownTable } = await import('markdown-table');
	const cells = rows.map((row) => heading.map((_, column) => row[column] ?? '–'));
	const [, ...numbers] = heading.map(() => 'right');
	return markdownTable([heading, ...cells], { align: [null, ...numbers] });
}
