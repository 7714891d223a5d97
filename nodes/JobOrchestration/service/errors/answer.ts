import { isJsonObject, type JsonObject } from '../../json';

/*
 * What came in response to a request. errors/ then goes three steps: `answerOf` says what the body is; `resultOf`
 * (result.ts) says what the response means, which is the expected body, or else the consequence that the retry policy
 * has for it; and `textsOf` (statuses.ts) and said.ts say it to the user.
 */

/** The response to a request. */
export interface Answer {
	status: number;
	/** The reason phrase, which is mostly the name of the status. */
	phrase: string;
	headers: JsonObject;
	/** The body; null if it is empty. */
	body: unknown;
	/** What the body is. A `page` is a web page, a `text` any other text or nothing, and `json` anything else. */
	kind: 'page' | 'text' | 'json';
	/** Whether the body may be a web page or a part of one, judging by its text or its content type. */
	mayBePage: boolean;
}

/** The number of characters at the start of a text by which a web page is recognised, and what may precede its tags. */
const MAX_START = 500;
const PROLOG = /^(?:\s|<\?[^>]*>|<!--.*?-->)*/s;

/** Reads a full response, as n8n's request helper returns it. @throws Error if it is none */
export function answerOf(response: unknown): Answer {
	const { statusCode: status, statusMessage, body: sent, headers } = Object(response) as JsonObject;
	if (typeof status !== 'number') throw new Error('n8n returned no HTTP response');
	const body = sent === undefined || sent === '' ? null : sent;
	const given = isJsonObject(headers) ? headers : {};
	const isHtml = /html/i.test(String(given['content-type']));
	const start = typeof body === 'string' ? body.slice(0, MAX_START).replace(PROLOG, '') : '';
	// Some services also give plain texts the content type of HTML.
	const isPage = isHtml ? start.startsWith('<') : /^<(?:!doctype\s+html|html)[\s>]/i.test(start);
	const isText = typeof body === 'string' || body === null;
	return {
		status,
		phrase: String(statusMessage ?? ''),
		headers: given,
		body,
		kind: isPage ? 'page' : isText ? 'text' : 'json',
		mayBePage: isHtml || start.startsWith('<'),
	};
}

/** Decides whether the status says that the request succeeded. */
export const isSuccess = ({ status }: Answer) => status >= 200 && status < 300;

/**
 * Decides whether a body says that the request failed. The interface document shows no such body: these are the fields
 * that services commonly use.
 *
 * @returns `refused` if a flag says so, `failed` if the body has an error
 */
export function saysFailed(body: unknown): 'refused' | 'failed' | undefined {
	if (!isJsonObject(body)) return undefined;
	const { success, ok, error } = body;
	if ([success, ok].some((flag) => flag === false || flag === 'false')) return 'refused';
	const isError = typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error);
	return isError ? 'failed' : undefined;
}

/** The longest wait that a Retry-After can ask for, in milliseconds: a year. A longer one is a mistake of the service. */
const MAX_WAIT_MS = 365 * 24 * 3_600_000;

/** The smallest number that is a time since 1970 in seconds (2001), and in milliseconds. */
const EPOCH_S = 1e9;
const EPOCH_MS = 1e12;

/**
 * Returns the wait that a Retry-After header asks for, in milliseconds. It holds seconds, a date (RFC 9110, section
 * 10.2.3) or, from some services, the date as seconds or milliseconds since 1970. A date is compared with the response's
 * own Date header, since the clocks of the service and of n8n may differ.
 */
export function retryAfterIn(
	{ 'retry-after': header, date }: JsonObject,
	now = Date.now(),
): number | undefined {
	const text = String(header).trim();
	const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	// Date.parse also accepts texts such as "-5", but a date in a header has a time of day.
	const parsed = /\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
	const until = number >= EPOCH_MS ? number : number >= EPOCH_S ? number * 1_000 : parsed;
	const waitMs = Number.isNaN(until) ? number * 1_000 : until - (Date.parse(String(date)) || now);
	return waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) : undefined;
}
