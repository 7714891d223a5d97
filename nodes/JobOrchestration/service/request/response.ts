import type { RequestFailure } from './failure';
import { parseRetryAfter } from './retryPolicy';
import type { Secrets } from '../secrets/secrets';
import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
export interface HttpResponse {
	/** Null if what was returned is no response at all. */
	status: number | null;
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
		status: typeof statusCode === 'number' ? statusCode : null,
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
	if (status === null) {
		const received = 'data without a status';
		return { kind: 'unexpectedResponse', status, received, expected: 'an HTTP response' };
	}
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		return { kind: 'redirect', status, location: addressIn(headers.location, secrets) };
	}
	const words = wordsIn(body);
	const parts = words.length > 0 ? words : sentenceIn(body);
	return {
		kind: 'status',
		status,
		text: parts.length > 0 ? quotable(parts, secrets) : undefined,
		retryAfter: parseRetryAfter(headers),
	};
}

/** What an answer is that is not what was wanted, in a few words that say what came. */
export function describeBody(body: unknown, secrets: Secrets): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isJsonObject(body)) {
		const words = wordsIn(body);
		if (words.length > 0) return `"${quotable(words, secrets)}"`;
		const keys = Object.keys(body).slice(0, 5).join(', ');
		return keys === ''
			? 'an empty object'
			: `an object with the fields ${quotable([keys], secrets)}`;
	}
	if (isHtml(body)) return 'an HTML page';
	return `the text "${quotable([String(body)], secrets)}"`;
}

/** How a web page begins, and a part of one. */
const PAGE = /^\s*(?:<!doctype|<!--|<html|<head|<body|<\?xml)/i;
const PART =
	/^\s*<(?:title|meta|base|link|style|script|noscript|frameset|iframe|img|svg|center|div|span|main|nav|header|footer|article|section|table|form|input|button|h[1-6]|p|pre|code|ul|ol|dl|li|font|strong|em|small|a|b|i|u|br|hr)[\s/>]/i;

/** Whether a body is a web page, or a part of one, rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && (PAGE.test(body) || PART.test(body));
}

/** The words in an error's body, wherever the service puts them: nested, in a list, or the plain text; none, or several. */
function wordsIn(body: unknown, depth = 0): string[] {
	if (typeof body === 'string') {
		// In a field, markup may be what the words are about.
		const isPage = depth === 0 ? isHtml(body) : PAGE.test(body);
		const text = isPage ? wordsOfPage(body) : body.trim();
		return text === '' ? [] : [text];
	}
	if (depth > 3) return [];
	if (Array.isArray(body)) return firstWords(body.slice(0, 5), depth);
	if (!isJsonObject(body)) return [];
	const valuesOf = (keys: string[]) => keys.map((key) => body[key]);
	const details = firstWords(valuesOf(DETAIL_KEYS), depth);
	const text = firstWords(valuesOf(TEXT_KEYS), depth);
	if (text.length === 0 && details.length > 0) return details;
	const words = text.length > 0 ? text : firstWords(valuesOf(OTHER_TEXT_KEYS), depth);
	if (words.length === 0) return [];
	const more = details.length > 0 ? details : sentenceIn(valuesOf(DETAIL_KEYS), depth);
	return words.join().includes(more.join()) ? words : [...words, ...more];
}

function firstWords(values: readonly unknown[], depth: number): string[] {
	for (const value of values) {
		const words = wordsIn(value, depth + 1);
		if (words.length > 0) return words;
	}
	return [];
}

/** Two words at least. */
const SENTENCE = /[a-z]\S?\s+\S{0,2}[a-z]/i;

/** The first sentence in an error's body, with the name of its field: some services name the fields that are wrong. */
function sentenceIn(body: unknown, depth = 0): string[] {
	if (depth > 3 || typeof body !== 'object' || body === null) return [];
	for (const [key, value] of Object.entries(body).slice(0, Array.isArray(body) ? 5 : 20)) {
		const text: unknown = Array.isArray(value) ? value[0] : value;
		const sentence = isSentence(text) ? [key, text.trim()] : sentenceIn(value, depth + 1);
		if (sentence.length > 0) return sentence;
	}
	return [];
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

/**
 * Texts of the service's as an error may repeat them: on one line, not too long, and without the secrets. Each is
 * looked at by itself, since a secret may have been cut where one begins or ends.
 */
function quotable(texts: readonly string[], secrets: Secrets): string {
	const line = texts
		.map((text) => {
			const clean = secrets.redactExcerpt(text.slice(0, MAX_READ));
			return text.length <= MAX_READ ? clean : clean.slice(0, -CUT_FROM_END);
		})
		.map((text) => text.replace(/\s+/g, ' ').trim())
		.reduce((before, text) => `${before}${/[.!?:]$/.test(before) ? ' ' : ': '}${text}`);
	return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}

/** Where a redirect points to, without its query: a service may put anything there. */
function addressIn(location: unknown, secrets: Secrets): string | undefined {
	if (typeof location !== 'string' || location === '') return undefined;
	return quotable([location.replace(/[?#].*$/s, '')], secrets);
}
