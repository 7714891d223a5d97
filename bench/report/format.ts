/** Formats a number with the useful number of digits: 1,930, 47, 9.3 or 0.55. */
export function number(value: number): string {
	const digits = Math.abs(value) >= 20 ? 0 : Math.abs(value) >= 2 ? 1 : 2;
	return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/**
 * Returns the median. The library simple-statistics isn't used, because it declares its types only for ES modules, so
 * TypeScript doesn't accept them in this project.
 */
export function medianOf(values: number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const half = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(half)] ?? NaN) + (sorted[Math.ceil(half)] ?? NaN)) / 2;
}

/** Formats the median, followed by the lowest and the highest value in parentheses if they differ. */
export function withSpread(values: number[]): string {
	const [mid, low, high] = [medianOf(values), Math.min(...values), Math.max(...values)].map(number);
	return low === high ? `${mid}` : `${mid} (${low}–${high})`;
}
