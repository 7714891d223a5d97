import type { RequestFailure } from './failure';
import { parseRetryAfter } from './retryPolicy';
import type { Secrets } from '../secrets/secrets';
import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
export interface HttpResponse {
	status: number;
	body: unknown;
	/** By their name in lower case. */
	headers: JsonObject;
}

/** The longest that the service's own words may be in an error. */
const MAX_TEXT = 500;

/** Where services put the words of an error, and what they say beside them. The interface shows none of them. */
const TEXT_KEYS = ['message', 'error', 'msg'];
const DETAIL_KEYS = ['detail', 'details', 'error_description', 'errors'];
const OTHER_TEXT_KEYS = ['title', 'data', 'body'];

/** Reads what n8n's request helper returned. */
export function readResponse(response: unknown): HttpResponse {
	const { statusCode, body, headers } = isJsonObject(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		body,
		headers: isJsonObject(headers) ? headers : {},
	};
}

/**
 * The failure that an answer stands for; undefined where its status is a success.
 *
 * @param secrets what no error may repeat, should the service echo it
 */
export function failureFromResponse(
	response: HttpResponse,
	secrets: Secrets,
): RequestFailure | undefined {
	const { status, body, headers } = response;
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		return { kind: 'redirect', status, location: addressIn(headers.location, secrets) };
	}
	const text = textIn(body) ?? sentenceIn(body);
	return {
		kind: 'status',
		status,
		text: text === undefined ? undefined : quotable(text, secrets),
		retryAfter: parseRetryAfter(headers['retry-after']),
	};
}

/** What an answer is that is not what was wanted, in a few words that say what came. */
export function describeBody(body: unknown, secrets: Secrets): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isJsonObject(body)) {
		const text = textIn(body);
		if (text !== undefined) return `"${quotable(text, secrets)}"`;
		const keys = Object.keys(body).slice(0, 5).join(', ');
		return keys === '' ? 'an empty object' : `an object with the fields ${quotable(keys, secrets)}`;
	}
	if (isHtml(body)) return 'an HTML page';
	return `the text "${quotable(String(body), secrets)}"`;
}

/** How a web page begins, and a part of one. */
const PAGE = /^\s*(?:<!doctype|<!--|<html|<head|<body|<\?xml)/i;
const PART =
	/^\s*<(?:title|meta|base|link|style|script|noscript|frameset|iframe|img|svg|center|div|span|main|nav|header|footer|article|section|table|form|input|button|h[1-6]|p|pre|code|ul|ol|dl|li|font|strong|em|small|a|b|i|u|br|hr)[\s/>]/i;

/** Whether a body is a web page, or a part of one, rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && (PAGE.test(body) || PART.test(body));
}

/** The words in an error's body, wherever the service puts them: nested, in a list, or the plain text. */
function textIn(body: unknown, depth = 0): string | undefined {
	if (typeof body === 'string') {
		// In a field, markup may be what the words are about.
		const isPage = depth === 0 ? isHtml(body) : PAGE.test(body);
		const text = isPage ? wordsOfPage(body) : body.trim();
		return text === '' ? undefined : text;
	}
	if (depth > 3) return undefined;
	if (Array.isArray(body)) return firstText(body.slice(0, 5), depth);
	if (!isJsonObject(body)) return undefined;
	const valuesOf = (keys: string[]) => keys.map((key) => body[key]);
	const text = firstText(valuesOf(TEXT_KEYS), depth);
	const detail = firstText(valuesOf(DETAIL_KEYS), depth);
	if (text === undefined) return detail ?? firstText(valuesOf(OTHER_TEXT_KEYS), depth);
	const more = detail ?? sentenceIn(valuesOf(DETAIL_KEYS), depth);
	return more === undefined || text.includes(more) ? text : `${text}: ${more}`;
}

function firstText(values: readonly unknown[], depth: number): string | undefined {
	for (const value of values) {
		const text = textIn(value, depth + 1);
		if (text !== undefined) return text;
	}
	return undefined;
}

/** Two words at least. */
const SENTENCE = /[a-z]\S?\s+\S{0,2}[a-z]/i;

/** The first sentence in an error's body, with the name of its field: some services name the fields that are wrong. */
function sentenceIn(body: unknown, depth = 0): string | undefined {
	if (depth > 3 || typeof body !== 'object' || body === null) return undefined;
	for (const [key, value] of Object.entries(body).slice(0, Array.isArray(body) ? 5 : 20)) {
		const text: unknown = Array.isArray(value) ? value[0] : value;
		const sentence = isSentence(text) ? `${key}: ${text.trim()}` : sentenceIn(value, depth + 1);
		if (sentence !== undefined) return sentence;
	}
	return undefined;
}

/** Whether a value is words for a person: no page, nothing that may be a token. */
function isSentence(value: unknown): value is string {
	if (typeof value !== 'string' || isHtml(value) || /^\s*(?:bearer|basic)\s/i.test(value)) {
		return false;
	}
	return SENTENCE.test(value.slice(0, MAX_TEXT));
}

/** The title of a web page, or its first heading; of a part of one without them its words. */
function wordsOfPage(html: string): string {
	const start = html.slice(0, 10_000);
	const [, title] =
		/<title[^>]*>\s*([^<\s][^<]{0,199})</i.exec(start) ??
		/<h[1-6][^>]*>\s*([^<\s][^<]{0,199})</i.exec(start) ??
		[];
	if (title !== undefined) return title.trim();
	return PAGE.test(html) ? '' : start.replace(/<[^<>]*>/g, ' ').trim();
}

/** How much of a text is looked at: an answer may be huge. */
const MAX_READ = 20 * MAX_TEXT;

/** Characters cut from the end of an excerpt: a secret that was cut there could be too short to be recognised. */
const CUT_FROM_END = 50;

/** A text of the service's as an error may repeat it: on one line, not too long, and without the secrets. */
function quotable(text: string, secrets: Secrets): string {
	const clean = secrets.redactExcerpt(text.slice(0, MAX_READ));
	const whole = text.length <= MAX_READ ? clean : clean.slice(0, -CUT_FROM_END);
	const line = whole.replace(/\s+/g, ' ').trim();
	return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}

/** Where a redirect points to, without its query: a service may put anything there. */
function addressIn(location: unknown, secrets: Secrets): string | undefined {
	if (typeof location !== 'string' || location === '') return undefined;
	return quotable(location.replace(/[?#].*$/s, ''), secrets);
}
