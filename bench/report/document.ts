import { readFile, writeFile } from 'node:fs/promises';

/**
 * Replaces the text between two marks in a file. The rest of the file is written by hand.
 * @param command the command that the marks name, such as `npm run bench`
 * @throws Error if the file doesn't contain these marks
 */
export async function writeBetweenMarks(page: string, command: string, written: string) {
	const begin = `<!-- what follows is written by ${command} -->`;
	const end = `<!-- what precedes is written by ${command} -->`;
	const text = await readFile(page, 'utf8');
	const [from, to] = [text.indexOf(begin), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`${page} has no place for the figures: ${begin}`);
	await writeFile(page, `${text.slice(0, from)}${begin}\n\n${written}\n\n${text.slice(to)}`);
}
