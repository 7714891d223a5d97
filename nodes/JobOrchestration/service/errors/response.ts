import type { RequestFailure } from './failure';
import { parseRetryAfter } from './retryPolicy';
import type { Secrets } from './secrets';
import { MAX_READ, WITHHELD } from './secrets';
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

/** A text in an answer: as the service sent it, and as a person reads it. */
interface Text {
	sent: string;
	readable: string;
}

/** The most characters of the service's words in an error. */
const MAX_SHOWN = 500;

/** Where services put the message of an error, and details of it. The interface shows none of them. */
const MESSAGE_KEYS = ['message', 'error', 'msg'];
const DETAIL_KEYS = ['detail', 'details', 'error_description', 'errors'];
const OTHER_KEYS = ['title', 'data', 'body'];

/** How deep a body is searched, and how many elements and fields. With more, a huge one would block n8n. */
const MAX_DEPTH = 3;
const MAX_ELEMENTS = 5;
const MAX_FIELDS = 20;

/** Reads what n8n's request helper returned. */
export function readResponse(response: unknown): HttpResponse {
	const { statusCode, body, headers } = isJsonObject(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : null,
		body,
		headers: isJsonObject(headers) ? headers : {},
	};
}

/** The failure that an answer stands for, without secrets; undefined if its status is a success. */
export function failureFromResponse(
	{ status, body, headers }: HttpResponse,
	secrets: Secrets,
): RequestFailure | undefined {
	if (status === null) {
		const received = 'data without a status';
		return { kind: 'unexpectedResponse', status, received, expected: 'an HTTP response' };
	}
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		const { location } = headers;
		const given = typeof location === 'string' ? secrets.redact(location) : '';
		// The query is left out: a service may put anything there.
		const address = given.replace(/[?#].*$/s, '').slice(0, MAX_SHOWN);
		return { kind: 'redirect', status, location: address || 'another address' };
	}
	const message = messageIn(body);
	const texts = message.length > 0 ? message : sentenceIn(body);
	const text = texts.length === 0 ? undefined : quote(texts, secrets);
	const isWithheld = texts.length > 0 && text === undefined;
	return { kind: 'status', status, text, isWithheld, retryAfter: parseRetryAfter(headers) };
}

/** What an answer is that isn't what was wanted, in a few words. */
export function describeBody(body: unknown, secrets: Secrets): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isHtml(body)) return 'an HTML page';
	const show = (texts: Text[]) => quote(texts, secrets) ?? WITHHELD;
	if (!isJsonObject(body)) return `the text "${show([textOf(String(body))])}"`;
	const message = messageIn(body);
	if (message.length > 0) return `"${show(message)}"`;
	const keys = Object.keys(body).slice(0, MAX_ELEMENTS).join(', ');
	return keys === '' ? 'an empty object' : `an object with the fields ${show([textOf(keys)])}`;
}

/** How a web page begins, and a part of one. */
const PAGE = /^\s*(?:<!doctype|<!--|<html|<head|<body|<\?xml)/i;
const PART =
	/^\s*<(?:title|meta|base|link|style|script|noscript|frameset|iframe|img|svg|center|div|span|main|nav|header|footer|article|section|table|form|input|button|h[1-6]|p|pre|code|ul|ol|dl|li|font|strong|em|small|a|b|i|u|br|hr)[\s/>]/i;

/** Whether a body is a web page, or a part of one, rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && (PAGE.test(body) || PART.test(body));
}

/** The message in an error's body, perhaps with a detail: nested, in a list, or the plain text. */
function messageIn(body: unknown, depth = 0): Text[] {
	if (typeof body === 'string') {
		// In a field, markup may be what the message is about.
		const text = textOf(body, depth === 0 ? isHtml(body) : PAGE.test(body));
		return text.readable === '' ? [] : [text];
	}
	if (depth > MAX_DEPTH) return [];
	if (Array.isArray(body)) return firstMessage(body.slice(0, MAX_ELEMENTS), depth);
	if (!isJsonObject(body)) return [];
	const valuesOf = (keys: string[]) => keys.map((key) => body[key]);
	const message = firstMessage(valuesOf(MESSAGE_KEYS), depth);
	const detail = firstMessage(valuesOf(DETAIL_KEYS), depth);
	if (message.length === 0 && detail.length > 0) return detail;
	const main = message.length > 0 ? message : firstMessage(valuesOf(OTHER_KEYS), depth);
	if (main.length === 0) return [];
	const more = detail.length > 0 ? detail : sentenceIn(valuesOf(DETAIL_KEYS), depth);
	return join(main).includes(join(more)) ? main : [...main, ...more];
}

function firstMessage(values: readonly unknown[], depth: number): Text[] {
	for (const value of values) {
		const message = messageIn(value, depth + 1);
		if (message.length > 0) return message;
	}
	return [];
}

/** The first sentence in an error's body, after its field's name: some services name the fields that are wrong. */
function sentenceIn(body: unknown, depth = 0): Text[] {
	if (depth > MAX_DEPTH || typeof body !== 'object' || body === null) return [];
	const max = Array.isArray(body) ? MAX_ELEMENTS : MAX_FIELDS;
	for (const [key, value] of Object.entries(body).slice(0, max)) {
		const text: unknown = Array.isArray(value) ? value[0] : value;
		const found = isSentence(text) ? [textOf(key), textOf(text)] : sentenceIn(value, depth + 1);
		if (found.length > 0) return found;
	}
	return [];
}

/** Whether a value is two words or more for a person: no page, nothing that may be a token. */
function isSentence(value: unknown): value is string {
	if (typeof value !== 'string' || isHtml(value)) return false;
	const start = value.slice(0, MAX_SHOWN);
	return /[a-z]\S?\s+\S{0,2}[a-z]/i.test(start) && !/^\s*(?:bearer|basic)\s/i.test(start);
}

/** A text; of a web page its title or first heading, of a part of one its words. */
function textOf(sent: string, isPage = false): Text {
	const start = sent.slice(0, MAX_READ);
	if (!isPage) return { sent, readable: start.trim() };
	const title = /<(title|h[1-6])\b[^>]*>\s*([^<\s].{0,199}?)\s*<\/\1/is.exec(start)?.[2];
	const words = PAGE.test(start) ? '' : start.replace(/<[^<>]*>/g, ' ').trim();
	return { sent, readable: title ?? words };
}

/** Texts in a row, with a colon after each that doesn't end a sentence. */
const join = (texts: readonly Text[]) =>
	texts
		.map(({ readable }) => readable)
		.join(': ')
		.replace(/([.!?:]): /g, '$1 ');

/** Texts of the service's on one line, cut if they are long; undefined if one contains a secret. */
function quote(texts: readonly Text[], secrets: Secrets): string | undefined {
	if (texts.some(({ sent }) => secrets.areIn(sent))) return undefined;
	const line = join(texts).replace(/\s+/g, ' ').trim();
	return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
