/** A number with as many digits as matter: 1,930, 47, 9.3, 0.55. */
export function number(value: number): string {
	const digits = Math.abs(value) >= 20 ? 0 : Math.abs(value) >= 2 ? 1 : 2;
	return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** The library simple-statistics has it, but declares its types for ES modules only: TypeScript refuses them here. */
export function medianOf(values: number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const half = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(half)] ?? NaN) + (sorted[Math.ceil(half)] ?? NaN)) / 2;
}

/** The median, and in brackets the lowest and the highest value if they differ. */
export function withSpread(values: number[]): string {
	const [mid, low, high] = [medianOf(values), Math.min(...values), Math.max(...values)].map(number);
	return low === high ? `${mid}` : `${mid} (${low}–${high})`;
}
