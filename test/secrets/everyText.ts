import { types } from 'node:util';

/**
 * Returns every text that can be reached from a value, however deep: the keys and values of its own properties,
 * including those that aren't enumerable; the results of getters and of `toJSON`; the causes of errors; the entries of
 * maps and sets; and bytes, read as text.
 */
export function everyText(root: unknown): Set<string> {
	const texts = new Set<string>();
	const seen = new Set<unknown>();
	const waiting: unknown[] = [root];
	while (waiting.length > 0) {
		const value = waiting.pop();
		if (typeof value === 'string') texts.add(value);
		if (typeof value === 'symbol') texts.add(String(value));
		const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function';
		if (!isThing || seen.has(value)) continue;
		seen.add(value);
		if (types.isUint8Array(value)) texts.add(Buffer.from(value).toString());
		else waiting.push(...valuesOf(value));
	}
	return texts;
}

function valuesOf(thing: object): unknown[] {
	const found: unknown[] = Reflect.ownKeys(thing).flatMap((key) => [
		key,
		tryTo(() => Reflect.get(thing, key)),
	]);
	const { toJSON } = thing as { toJSON?: unknown };
	if (typeof toJSON === 'function') found.push(tryTo(() => Reflect.apply(toJSON, thing, [])));
	if (types.isNativeError(thing)) found.push(String(thing), thing.stack, thing.message);
	if (types.isMap(thing) || types.isSet(thing)) found.push(...thing.entries());
	return found;
}

function tryTo(read: () => unknown): unknown {
	try {
		return read();
	} catch (error) {
		return error;
	}
}
