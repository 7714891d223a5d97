import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the content of a JSON file of this project. Doesn't check that it has the type `T`. */
export async function readJson<T>(path: string): Promise<T> {
	return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** Writes a JSON file that only this user can read. Creates its folder. */
export async function writeJson(path: string, value: unknown): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, JSON.stringify(value), { mode: 0o600 });
}

/** Deletes the file or folder at this path, creates an empty folder there, and returns the path. */
export async function emptyFolder(path: string): Promise<string> {
	await rm(path, { recursive: true, force: true });
	await mkdir(path, { recursive: true });
	return path;
}
