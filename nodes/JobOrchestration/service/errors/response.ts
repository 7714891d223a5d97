import type { RequestFailure } from './failure';
import { parseRetryAfter } from './retryPolicy';
import type { Secrets } from './secrets';
import { MAX_READ, WITHHELD } from './secrets';
import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
export interface HttpResponse {
	/** 0 if what was returned is no response at all. */
	status: number;
	body: unknown;
	/** By their name in lower case. */
	headers: JsonObject;
}

const MESSAGE_WITHHELD =
	"The service's message isn't shown because it contains the password or token";

/** The most characters of the service's words in an error. */
const MAX_SHOWN = 500;

/** Where services put the message of an error, and details of it. The interface shows none of them. */
const MESSAGE_KEYS = [
	...['message', 'error', 'msg', 'title'],
	...['detail', 'details', 'error_description', 'errors'],
];

/** How deep a body is searched, and how many elements of a list. With more, a huge one would block n8n. */
const MAX_DEPTH = 3;
const MAX_ELEMENTS = 5;

/** Reads what n8n's request helper returned. */
export function readResponse(response: unknown): HttpResponse {
	const { statusCode, body, headers } = isJsonObject(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		body,
		headers: isJsonObject(headers) ? headers : {},
	};
}

/** The failure that an answer stands for, without secrets; undefined if its status is a success. */
export function failureFromResponse(
	{ status, body, headers }: HttpResponse,
	secrets: Secrets,
): RequestFailure | undefined {
	if (status === 0) return { kind: 'broken', code: 'no HTTP response' };
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		const { location } = headers;
		const given = typeof location === 'string' ? secrets.redact(location) : '';
		// The query is left out: a service may put anything there.
		const address = given.replace(/[?#].*$/s, '').slice(0, MAX_SHOWN);
		return { kind: 'redirect', status, location: address || 'another address' };
	}
	const retryAfter = parseRetryAfter(headers);
	if (isHtml(body)) return { kind: 'status', status, note: 'An HTML page came', retryAfter };
	const texts = messagesIn(body);
	if (texts.length === 0) return { kind: 'status', status, retryAfter };
	const text = quote(texts, secrets);
	const note = text === undefined ? MESSAGE_WITHHELD : undefined;
	return { kind: 'status', status, text, note, retryAfter };
}

/**
 * What an answer is that isn't what was wanted, in a few words.
 *
 * @param isSecret whether a text that isn't clearly a message is not shown, as it may be a token
 */
export function describeBody(body: unknown, secrets: Secrets, isSecret = false): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isHtml(body)) return 'an HTML page';
	if (isSecret && !isJsonObject(body)) return 'a text';
	const show = (texts: string[]) => quote(texts, secrets) ?? WITHHELD;
	if (!isJsonObject(body)) return `the text "${show([String(body)])}"`;
	const { message, error, msg } = body;
	const shown = isSecret ? [message, error, msg].filter((text) => typeof text === 'string') : body;
	const messages = messagesIn(shown);
	if (messages.length > 0) return `the message "${show(messages)}"`;
	const keys = Object.keys(body).slice(0, MAX_ELEMENTS).join(', ');
	return keys === '' ? 'an empty object' : `an object with the fields ${show([keys])}`;
}

/** Whether a body is a web page, or a part of one, rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && /^\s*<(?:!|\?xml|[a-z][a-z\d]*[\s/>])/i.test(body);
}

/** The messages in a body: nested, in a list, or the plain text. */
function messagesIn(body: unknown, depth = 0): string[] {
	if (typeof body === 'string') return body.trim() === '' ? [] : [body];
	if (depth > MAX_DEPTH || typeof body !== 'object' || body === null) return [];
	const values = Array.isArray(body)
		? body.slice(0, MAX_ELEMENTS)
		: MESSAGE_KEYS.map((key) => (body as JsonObject)[key]);
	return values.flatMap((value) => messagesIn(value, depth + 1));
}

/** Texts of the service's on one line, cut if they are long; undefined if one contains a secret. */
function quote(texts: readonly string[], secrets: Secrets): string | undefined {
	if (texts.some((text) => secrets.areIn(text))) return undefined;
	const lines = texts.map((text) => text.slice(0, MAX_READ).replace(/\s+/g, ' ').trim());
	const line = [...new Set(lines)].join(': ');
	return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
