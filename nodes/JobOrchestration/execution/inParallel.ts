import { MAX_CONCURRENCY } from '../service/pace/concurrencyLimit';

/**
 * Does a piece of work for each element, in their order, at most so many at once. After the signal none is
 * begun; those under way are awaited.
 *
 * @param work must not reject; it may yield its place to the next element before it ends
 */
export async function inParallel<Element>(
	elements: readonly Element[],
	concurrency: number | undefined,
	work: (element: Element, yieldPlace: () => void) => Promise<void>,
	signal?: AbortSignal,
): Promise<void> {
	const queue = elements.values();
	const worker = async (): Promise<void> => {
		let successor: Promise<void> | undefined;
		while (successor === undefined && signal?.aborted !== true) {
			const next = queue.next();
			if (next.done === true) return;
			await work(next.value, () => {
				successor ??= worker();
			});
		}
		await successor;
	};
	const length = Math.min(concurrency ?? MAX_CONCURRENCY, elements.length);
	await Promise.all(Array.from({ length }, worker));
}
