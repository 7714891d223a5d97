import { spreadOf } from '../figures';

/** A number with as many digits as one looks at: 1,930, 47, 9.3, 0.55. */
export function number(value: number): string {
	const digits = Math.abs(value) >= 20 ? 0 : Math.abs(value) >= 2 ? 1 : 2;
	return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** How many times: 3.4 ×. */
export function times(value: number | undefined): string | undefined {
	return value === undefined ? undefined : `${number(value)} ×`;
}

/** The median, and in brackets the lowest and the highest where they differ. */
export function withSpread(values: number[]): string {
	const { median, lowest, highest } = spreadOf(values);
	const [shown, low, high] = [median, lowest, highest].map(number);
	return low === high ? `${shown}` : `${shown} (${low}–${high})`;
}

/** Bytes as megabytes. */
export const megabytes = (bytes: number) => bytes / 1e6;
