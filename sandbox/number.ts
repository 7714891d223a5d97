/**
 * Parses a number.
 * @throws Error if the text isn't a number in the range. The message names the range, and begins with `must be`.
 */
export function number(text: string, { least = 0, most = 1e9, whole = false } = {}): number {
	const value = text.trim() === '' ? NaN : Number(text);
	if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
	const kind = whole ? 'whole number' : 'number';
	throw new Error(`must be a ${kind} from ${least} to ${most}, not '${text}'`);
}
