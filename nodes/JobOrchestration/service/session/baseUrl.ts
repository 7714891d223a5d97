import { explain } from '../errors/explain';
import type { FailureOf } from '../errors/failure';
import { ServiceError } from '../errors/serviceError';

/**
 * The credential's Base URL as a client reads it (http://Jobs.example.com:80 is http://jobs.example.com), without slashes
 * at its end.
 *
 * @throws ServiceError if it can't be used. It doesn't repeat the field's text, which may hold a password
 */
export function readBaseUrl(text: unknown): string {
	const problem = problemOf(text);
	if (problem !== undefined) {
		const corrected = problem === 'otherScheme' ? withScheme(String(text).trim()) : undefined;
		const failure = { kind: 'baseUrl', problem, corrected } as const;
		throw new ServiceError(failure, explain(failure));
	}
	return new URL(String(text).trim()).href.replace(/(?<!\/)\/+$/, '');
}

function problemOf(text: unknown): FailureOf<'baseUrl'>['problem'] | undefined {
	if (typeof text !== 'string' || text.trim() === '') return 'empty';
	const url = parse(text.trim());
	if (withScheme(text.trim()) !== undefined) return 'otherScheme';
	if (url === undefined) return 'notAnAddress';
	if (!/^https?:$/.test(url.protocol)) return 'otherScheme';
	// A URL parser adds missing slashes; n8n's HTTP client doesn't.
	if (!/^https?:\/\//i.test(text.trim())) return 'notAnAddress';
	if (url.username !== '' || url.password !== '') return 'holdsUser';
	return /[?#]/.test(text) ? 'holdsQuery' : undefined;
}

/** A host and a port with a scheme before them; undefined for any other text, which may hold a password. */
function withScheme(text: string): string | undefined {
	if (!/^[\w.-]+:\d+$/.test(text)) return undefined;
	return /^(localhost|[\d.]+):/.test(text) ? `http://${text}` : `https://${text}`;
}

function parse(text: string): URL | undefined {
	return URL.canParse(text) ? new URL(text) : undefined;
}

/** The address that n8n's HTTP client (axios) would send a request to; undefined if it isn't one. */
export function resolveUrl(address: unknown, baseURL: unknown): URL | undefined {
	if (typeof address !== 'string') return undefined;
	const isComplete = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(address);
	return typeof baseURL !== 'string' || baseURL === '' || isComplete
		? parse(address)
		: parse(`${baseURL.replace(/\/?\/$/, '')}/${address.replace(/^\/+/, '')}`);
}

/**
 * Whether an address is a base URL, as `readBaseUrl` returns it, or below it. A `..` in its path goes up, also if it is percent-encoded, even twice.
 */
export function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
	return `${origin}${pathname}/`.startsWith(`${baseUrl}/`) && !goesUp(pathname);
}

function goesUp(path: string): boolean {
	let decoded = path;
	for (let time = 0; time < 3; time += 1) {
		decoded = decoded.replace(/%(25|2e|2f|3b|5c)/gi, (_, code: string) =>
			String.fromCharCode(parseInt(code, 16)),
		);
	}
	// Some servers drop what follows a semicolon.
	return decoded.split(/[/\\]/).some((segment) => segment.split(';')[0] === '..');
}
