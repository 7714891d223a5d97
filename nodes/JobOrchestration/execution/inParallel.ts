/** Items in progress at most. With fewer, those that wait for a Retry-After would fill it; with more, they need memory. */
const WINDOW = 2_000;

/** Runs `work`, which must not reject, for each element in order, `atOnce` at a time; begins none after the signal. */
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
