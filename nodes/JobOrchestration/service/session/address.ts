import type { HttpOptions } from './http';

/**
 * Returns the address of another node's request in the form that was checked, so that n8n can't interpret it
 * differently. If the token must not be sent there, returns where the request would go as `foreign`.
 */
export function addressForToken(
	{ url, uri, baseURL, headers = {}, proxy }: HttpOptions,
	baseUrl: string,
): { address: string } | { foreign: string } {
	const address = resolveUrl(url ?? uri, baseURL);
	// There may be several Host headers in different spellings, and any of them may be sent.
	const otherHost = Object.entries(headers).find(
		([name, host]) => /^host$/i.test(name) && host !== undefined && host !== address?.host,
	);
	if (address === undefined || otherHost !== undefined || !isBelow(baseUrl, address)) {
		const shown = address && `${address.origin}${address.pathname}`;
		return { foreign: String(otherHost?.[1] ?? shown ?? "an address that can't be read") };
	}
	return proxy ? { foreign: "the node's proxy" } : { address: address.href };
}

/** Returns the URL that n8n's HTTP client (axios) would send a request to; undefined if it isn't a valid URL. */
function resolveUrl(address: unknown, baseURL: unknown): URL | undefined {
	if (typeof address !== 'string') return undefined;
	const isComplete = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(address);
	return typeof baseURL !== 'string' || baseURL === '' || isComplete
		? parse(address)
		: parse(`${baseURL.replace(/\/?\/$/, '')}/${address.replace(/^\/+/, '')}`);
}

/**
 * Decides whether an address is a base URL, as `accountOf` returns it, or a path below it. An address with a `..`
 * segment that URL parsing doesn't resolve, such as an encoded one, is neither: a server may resolve it to a path
 * outside the base URL.
 */
function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
	// Some servers ignore the part of a path segment that follows a semicolon.
	const segments = decodedPath(pathname)
		.split(/[/\\]/)
		.map((segment) => segment.split(';')[0]);
	return `${origin}${pathname}/`.startsWith(`${baseUrl}/`) && !segments.includes('..');
}

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * The maximum number of times that a path is decoded. No chain of proxies decodes a path more often. Without a limit, a
 * long text of "%2525…" would take seconds.
 */
const MAX_ROUNDS = 20;

/**
 * Returns a path without percent encoding, which is decoded byte by byte. This is the path once all proxies and servers
 * on its way have decoded it.
 */
function decodedPath(path: string): string {
	let decoded = path;
	for (let round = 0, before = ''; before !== decoded && round < MAX_ROUNDS; round += 1) {
		before = decoded;
		decoded = before.replace(/%([\da-f]{2})/gi, (_, code: string) =>
			String.fromCharCode(parseInt(code, 16)),
		);
	}
	return decoded;
}
