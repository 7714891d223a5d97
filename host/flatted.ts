/**
 * Reads the form in which n8n stores and sends an execution's data (npm's `flatted`): a list whose
 * first entry is the value, and in which a text inside an object or a list is the index of the entry
 * that stands there.
 */
export function parseFlatted(text: string): unknown {
	const entries = JSON.parse(text) as unknown[];
	const built = new Map<number, unknown>();
	const build = (index: number): unknown => {
		if (built.has(index)) return built.get(index);
		const entry = entries[index];
		if (entry === null || typeof entry !== 'object') return entry;
		const target: unknown[] | Record<string, unknown> = Array.isArray(entry) ? [] : {};
		built.set(index, target);
		for (const [key, value] of Object.entries(entry)) {
			Object.assign(target, { [key]: typeof value === 'string' ? build(Number(value)) : value });
		}
		return target;
	};
	return build(0);
}
