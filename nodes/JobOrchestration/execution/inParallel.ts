import { MAX_CONCURRENCY } from '../service/pace/concurrencyLimit';
import { onAbort } from '../service/request/timers';

/**
 * Does a piece of work for each element, in their order, at most so many at once. After the signal none is
 * begun; those under way are awaited.
 *
 * @param work must not reject. While it awaits `letOthersTry`, the next element is begun in its place; that resolves
 * when all other elements are done or await it, too, or at the signal.
 */
export async function inParallel<Element>(
	elements: readonly Element[],
	concurrency: number | undefined,
	work: (element: Element, letOthersTry: () => Promise<void>) => Promise<void>,
	signal?: AbortSignal,
): Promise<void> {
	const queue = elements.values();
	let left = elements.length;
	let active = 0;
	let waiting: Array<() => void> = [];
	const resume = () => {
		if (signal?.aborted !== true && (active > 0 || left > 0)) return;
		active += waiting.length;
		for (const goOn of waiting) goOn();
		waiting = [];
	};

	const worker = async (): Promise<void> => {
		let successor: Promise<void> | undefined;
		while (successor === undefined && signal?.aborted !== true) {
			const next = queue.next();
			if (next.done === true) return;
			left -= 1;
			active += 1;
			await work(next.value, async () => {
				active -= 1;
				successor ??= worker();
				await new Promise<void>((goOn) => {
					waiting.push(goOn);
					resume();
				});
			});
			active -= 1;
			resume();
		}
		await successor;
	};
	const stopListening = onAbort(signal, resume);
	const length = Math.min(concurrency ?? MAX_CONCURRENCY, elements.length);
	await Promise.all(Array.from({ length }, worker));
	stopListening();
}
