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
	const problem = problemOf(text);
	if (problem !== undefined) {
		const failure = { kind: 'baseUrl', problem } as const;
		throw new ServiceError(failure, explainBaseUrl(failure));
	}
	return String(text).trim().replace(/\/+$/, '');
}

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

/** The origin (scheme, host and port) of a request, whichever of n8n's option shapes names its address. */
export function originOf(address: unknown, baseUrl: string): string | undefined {
	if (typeof address !== 'string') return undefined;
	// What is an address by itself must not be read as a path: "http:/elsewhere" is one without a base.
	const base = URL.canParse(address) ? undefined : baseUrl;
	return URL.canParse(address, base) ? new URL(address, base).origin : undefined;
}
