import { isJsonObject, type JsonObject } from '../../json';
import type { ServiceRequest } from '../request';
import type { Failure } from './kinds';
import { isWebPage } from './page';
import { MAX_SHOWN, saidIn, saidOnPage } from './said';
import { type Secrets, WITHHELD } from './secrets';

/** The body of the expected response, or the failure if no such response came. */
export type Result<Body> = { body: Body } | { failure: Failure };

/**
 * Returns the body of a response if it is the expected one, or else a failure without secrets.
 *
 * @param answer the full response, as n8n's request helper returns it
 */
export function resultOf<Body>(
	answer: unknown,
	{ method, expected, isExpected, failureIn, isSecret = false }: ServiceRequest<Body>,
	secrets: Secrets,
): Result<Body> {
	const {
		statusCode: status,
		statusMessage,
		body: sent,
		headers,
	} = isJsonObject(answer) ? answer : {};
	if (typeof status !== 'number') return { failure: { kind: 'broken', code: 'no HTTP response' } };
	// A 303 to a PUT says that the request is done, and where to look. Its body is a note for people (RFC 9110, 15.4.4).
	const isDone = method === 'PUT' && status === 303;
	const isSuccess = isDone || (status >= 200 && status < 300);
	const body = isDone || sent === undefined || sent === '' ? null : sent;
	const given = isJsonObject(headers) ? headers : {};
	if (!isSuccess && status >= 300 && status < 400) {
		const location = typeof given.location === 'string' ? secrets.redact(given.location) : '';
		// The query and the fragment are left out, since a service may put anything there.
		const address = location.replace(/[?#].*$/s, '').slice(0, MAX_SHOWN);
		return { failure: { kind: 'redirect', status, location: address || 'another address' } };
	}
	const isHtml = /html/i.test(String(given['content-type']));
	const isPage = typeof body === 'string' && isWebPage(body, isHtml);
	const reading = { secrets, status, statusMessage: String(statusMessage ?? '') };
	const failed = isSuccess ? failureIn?.(body, status) : 'failed';
	if (failed !== undefined) {
		const bodyType = isPage ? 'page' : typeof body === 'string' || body === null ? 'text' : 'json';
		const said = isPage ? saidOnPage(body, reading) : saidIn(body, reading);
		const facts = { status, bodyType, ...said, retryAfterMs: parseRetryAfter(given) } as const;
		// A body that begins with a tag could be a part of a web page. Its Retry-After is then not taken for the service's.
		const mayBePage = isHtml || isPage || /^\s*<(?!\?xml)/.test(String(body));
		const saysRefused = failed === 'refused';
		return {
			failure: { kind: 'status', ...facts, mayBePage, ...(saysRefused && { saysRefused }) },
		};
	}
	if (!isPage && isExpected(body)) return { body };
	const what = isPage ? 'an HTML page' : kindOf(body);
	const { text, withheld } = isPage ? {} : saidIn(body, { ...reading, isSecret });
	const shown = withheld === undefined ? text : WITHHELD;
	const isMessage = shown?.startsWith('"') === true;
	const received =
		shown === undefined ? what : isMessage ? `the message ${shown}` : `${what}: ${shown}`;
	return { failure: { kind: 'unexpectedResponse', status, expected, what, received } };
}

function kindOf(body: unknown): string {
	if (body === null) return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (!isJsonObject(body)) return 'a text';
	return Object.keys(body).length === 0 ? 'an empty object' : 'an object';
}

/**
 * Returns the wait that a Retry-After header asks for, in milliseconds. A date in it is compared with the response's
 * own Date header, since the clocks of the service and of n8n may differ.
 */
export function parseRetryAfter(headers: JsonObject, now = Date.now()): number | undefined {
	const retryAfter = headers['retry-after'];
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(String(retryAfter))) return Number(retryAfter) * 1000;
	const [until, sentAt = now] = [retryAfter, headers.date].map(dateIn);
	return until === undefined ? undefined : Math.max(0, until - sentAt);
}

/**
 * Returns the date in a header in milliseconds, or undefined if it can't be read. A date in a header always has a time
 * of day, unlike other texts that `Date.parse` accepts.
 */
function dateIn(header: unknown): number | undefined {
	const date = /\d\d:\d\d:\d\d/.test(String(header)) ? Date.parse(String(header)) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
