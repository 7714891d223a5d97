/**
 * The maximum number of items in progress. Large enough that items which wait for a Retry-After don't fill the window,
 * small enough to limit the memory for items in progress.
 */
const WINDOW = 2_000;

/**
 * Runs `work` for each element in order, with at most `atOnce` elements in progress at the same time. Begins no further
 * element once the signal is aborted.
 *
 * @param work must not reject
 */
export async function inParallel<Element>(
	elements: readonly Element[],
	atOnce = WINDOW,
	work: (element: Element) => Promise<void>,
	signal?: AbortSignal,
): Promise<void> {
	const queue = elements.values();
	const worker = async () => {
		for (const element of queue) if (signal?.aborted !== true) await work(element);
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, elements.length) }, worker));
}
