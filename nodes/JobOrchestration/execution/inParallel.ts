/**
 * Does a piece of work for each element, in their order, at most so many at once. None is begun after the
 * stop; those under way are awaited.
 *
 * @param work must not reject
 */
export async function inParallel<Element>(
	elements: Iterable<Element>,
	concurrency: number,
	stop: AbortSignal,
	work: (element: Element) => Promise<void>,
): Promise<void> {
	const queue = elements[Symbol.iterator]();
	const worker = async () => {
		while (!stop.aborted) {
			const next = queue.next();
			if (next.done === true) return;
			await work(next.value);
		}
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
}
