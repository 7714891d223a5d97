import { MAX_LIMIT } from '../service/pace/pace';

/**
 * Runs `work` for each element in order, at most `concurrency` at a time, and begins none after the signal.
 *
 * @param work must not reject. It may begin the next element beside itself if the service keeps rejecting it
 */
export async function inParallel<Element>(
	elements: readonly Element[],
	concurrency = MAX_LIMIT,
	work: (element: Element, beginNext: () => void) => Promise<void>,
	signal?: AbortSignal,
): Promise<void> {
	const queue = elements.values();
	const worker = async (): Promise<void> => {
		let successor: Promise<void> | undefined;
		for (const element of queue) {
			if (signal?.aborted === true) return;
			await work(element, () => void (successor ??= worker()));
			if (successor !== undefined) return await successor;
		}
	};
	const length = Math.min(concurrency, MAX_LIMIT, elements.length);
	await Promise.all(Array.from({ length }, worker));
}
