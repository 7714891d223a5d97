/** A call that is under way, and the next one, for those who came meanwhile. */
interface InFlight {
	current: Promise<boolean>;
	next?: Promise<boolean>;
}

const inFlight = new Map<string, InFlight>();

/**
 * Makes one call for all who want it at the same moment. Whoever comes while one is under way shares the next, so
 * that no result is older than the wish for it.
 *
 * @param key the same for calls that may share a result
 */
export async function coalesce(key: string, call: () => Promise<boolean>): Promise<boolean> {
	const earlier = inFlight.get(key);
	if (earlier === undefined) return await begin(key, call);
	const again = async () => await begin(key, call);
	earlier.next ??= earlier.current.then(again, again);
	return await earlier.next;
}

async function begin(key: string, call: () => Promise<boolean>): Promise<boolean> {
	const now: InFlight = { current: call() };
	inFlight.set(key, now);
	try {
		return await now.current;
	} finally {
		if (now.next === undefined) inFlight.delete(key);
	}
}
