import { explainBaseUrl } from './explain/connection';
import { ServiceError } from './serviceError';

/**
 * The credential's Base URL as the calls want it: without surrounding spaces and without a slash at its end.
 * A path prefix stays.
 *
 * @throws ServiceError where it is not an http(s) address, or holds a user name, a query or a fragment. The
 * text of the field is never repeated: it may hold a password.
 */
export function readBaseUrl(text: unknown): string {
	if (lastRead !== undefined && lastRead.text === text) return lastRead.baseUrl;
	const problem = problemOf(text);
	if (problem !== undefined) {
		const failure = { kind: 'baseUrl', problem } as const;
		throw new ServiceError(failure, explainBaseUrl(failure));
	}
	lastRead = { text, baseUrl: String(text).trim().replace(/\/+$/, '') };
	return lastRead.baseUrl;
}

/** What was read last: thousands of requests in a row read the same, and parsing an address is slow. */
let lastRead: { text: unknown; baseUrl: string } | undefined;

function problemOf(text: unknown): string | undefined {
	if (typeof text !== 'string' || text.trim() === '') return 'is empty';
	const url = parse(text.trim());
	if (url === undefined) return "isn't a web address";
	if (url.protocol !== 'http:' && url.protocol !== 'https:') {
		return "doesn't start with http:// or https://";
	}
	if (url.username !== '' || url.password !== '') return 'holds a user name or a password';
	if (/[?#]/.test(text)) return 'holds a "?" or a "#"';
	return undefined;
}

function parse(text: string): URL | undefined {
	return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * A path of ids and words, each percent-encoded.
 *
 * `.` and `..` must be refused before: encoded or not, a URL parser walks them up or away.
 */
export function pathOf(...segments: string[]): string {
	return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/**
 * Whether an address begins with a base URL as it is read above, and so has its origin: the slash that
 * follows ends host and port. Far cheaper than parsing both.
 */
export function isBelow(baseUrl: string, address: unknown): boolean {
	return typeof address === 'string' && address.startsWith(`${baseUrl}/`);
}

/** The origin (scheme, host and port) of a request, whichever of n8n's option shapes names its address. */
export function originOf(address: unknown, baseUrl: string): string | undefined {
	if (typeof address !== 'string') return undefined;
	// What is an address by itself must not be read as a path: "http:/elsewhere" is one without a base.
	const base = URL.canParse(address) ? undefined : baseUrl;
	return URL.canParse(address, base) ? new URL(address, base).origin : undefined;
}
