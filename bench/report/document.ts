import { readFile, writeFile } from 'node:fs/promises';

/**
 * Writes into a page what lies between two marks; the rest of it is written by hand.
 * @param command what the marks name, such as `npm run bench`
 * @throws Error when the page has no such marks
 */
export async function writeBetweenMarks(page: string, command: string, written: string) {
	const begin = `<!-- what follows is written by ${command} -->`;
	const end = `<!-- what precedes is written by ${command} -->`;
	const text = await readFile(page, 'utf8');
	const [from, to] = [text.indexOf(begin), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`${page} has no place for the figures: ${begin}`);
	await writeFile(page, `${text.slice(0, from)}${begin}\n\n${written}\n\n${text.slice(to)}`);
}
