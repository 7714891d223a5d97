/**
 * The maximum number of times that a path is decoded. No chain of proxies decodes a path more often. Without a limit, a
 * long text of "%2525…" would take seconds.
 */
const MAX_ROUNDS = 20;

/**
 * Returns a path without percent encoding, which is decoded byte by byte. This is the path once all proxies and servers
 * on its way have decoded it.
 */
export function decodedPath(path: string): string {
	let decoded = path;
	for (let round = 0, before = ''; before !== decoded && round < MAX_ROUNDS; round += 1) {
		before = decoded;
		decoded = before.replace(/%([\da-f]{2})/gi, (_, code: string) =>
			String.fromCharCode(parseInt(code, 16)),
		);
	}
	return decoded;
}
