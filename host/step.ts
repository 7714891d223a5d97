/** Runs a step. Prints its title before, and how long it has taken afterwards. Returns what `work` returns. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
	const startedAt = Date.now();
	process.stdout.write(`${title} …\n`);
	const result = await work();
	process.stdout.write(`  done in ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
	return result;
}
