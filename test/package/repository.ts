import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of this repository. */
export const root = join(__dirname, '../..');

/** Returns the text of a file of this repository. */
export const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** Returns the paths of the files in a folder of this repository whose names match. */
export const filesIn = (folder: string, names: RegExp) =>
	readdirSync(join(root, folder))
		.filter((name) => names.test(name))
		.map((name) => join(folder, name));
