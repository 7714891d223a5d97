import type { LoginFailure } from './failure';
import { readRetryAfter } from './retryPolicy';
import { isRecord } from './shapes';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
export interface Answer {
	status: number;
	body: unknown;
	header(name: string): unknown;
}

/** The longest that the service's own words may be in an error. */
const LONGEST_TEXT = 500;

/** Where services put the words of an error. The interface shows none of them. */
const TEXT_KEYS = ['message', 'error', 'msg', 'detail', 'details', 'error_description', 'errors'];

/** Reads what n8n's request helper returned. */
export function readAnswer(response: unknown): Answer {
	const { statusCode, body, headers } = isRecord(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		body,
		header: (name) => (isRecord(headers) ? headers[name] : undefined),
	};
}

/**
 * The failure that an answer stands for; undefined where its status is a success.
 *
 * @param secrets texts that no error may repeat, should the service echo them
 */
export function failureIn(answer: Answer, secrets: readonly string[]): LoginFailure | undefined {
	const { status, body } = answer;
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		return { kind: 'redirect', status, location: addressIn(answer.header('location'), secrets) };
	}
	const text = textIn(body);
	return {
		kind: 'status',
		status,
		text: text === undefined ? undefined : quotable(text, secrets),
		retryAfter: readRetryAfter(answer.header('retry-after')),
	};
}

/** What an answer is that is not what was wanted, in a few words that say what came. */
export function describe(body: unknown, secrets: readonly string[]): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isRecord(body)) {
		const text = textIn(body);
		if (text !== undefined) return `"${quotable(text, secrets)}"`;
		const keys = Object.keys(body).slice(0, 5).join(', ');
		return keys === ''
			? 'an empty object'
			: `an object of other fields (${quotable(keys, secrets)})`;
	}
	if (isHtml(body)) return 'an HTML page';
	return `the text "${quotable(String(body), secrets)}"`;
}

/** Whether a body is a web page rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && /^\s*(?:<!doctype|<html|<head|<body|<\?xml)/i.test(body);
}

/** The words in an error's body, wherever the service puts them: nested, in a list, or the plain text. */
function textIn(body: unknown, depth = 0): string | undefined {
	if (typeof body === 'string') {
		const text = isHtml(body) ? titleOf(body) : body.trim();
		return text === '' ? undefined : text;
	}
	if (depth > 3) return undefined;
	if (Array.isArray(body)) return firstText(body.slice(0, 5), depth);
	if (!isRecord(body)) return undefined;
	return firstText(
		[...TEXT_KEYS, 'data', 'body'].map((key) =>
			typeof body[key] === 'number' ? undefined : body[key],
		),
		depth,
	);
}

function firstText(values: readonly unknown[], depth: number): string | undefined {
	for (const value of values) {
		const text = textIn(value, depth + 1);
		if (text !== undefined) return text;
	}
	return undefined;
}

function titleOf(html: string): string {
	return /<title[^>]*>([^<]{1,200})</i.exec(html.slice(0, 10_000))?.[1]?.trim() ?? '';
}

/**
 * A text of the service's as an error may repeat it: on one line, not too long, and without the secrets.
 * They are taken out before it is cut: half a secret would not be found.
 */
function quotable(text: string, secrets: readonly string[]): string {
	const start = secrets
		.filter((secret) => secret !== '')
		.reduce((left, secret) => left.replaceAll(secret, '***'), text.slice(0, 20 * LONGEST_TEXT))
		.replace(/\s+/g, ' ');
	return start.length > LONGEST_TEXT ? `${start.slice(0, LONGEST_TEXT)}…` : start;
}

/** Where a redirect points to, without its query: a service may put anything there. */
function addressIn(location: unknown, secrets: readonly string[]): string | undefined {
	if (typeof location !== 'string' || location === '') return undefined;
	return quotable(location.replace(/[?#].*$/s, ''), secrets);
}
