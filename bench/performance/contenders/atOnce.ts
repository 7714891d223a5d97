/** Does a piece of work for each number up to a count, so many at once, and gives the results in order. */
export async function atOnce<Result>(
	count: number,
	concurrency: number,
	work: (n: number) => Promise<Result>,
): Promise<Result[]> {
	const results = new Array<Result>(count);
	let next = 0;
	const worker = async () => {
		while (next < count) {
			const n = next;
			next += 1;
			results[n] = await work(n);
		}
	};
	await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
	return results;
}
